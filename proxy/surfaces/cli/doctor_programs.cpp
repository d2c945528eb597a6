// The programs of `opid doctor`, as their languages' own documentation would have a beginner write them: what they do
// under the variables is what a user's code does. Arguments: [KIND] URL OPERATION-ID.
#include "surfaces/cli/doctor_probes.hpp"

namespace opid {
namespace {

constexpr const char* python = R"py(
import sys
kind, url, operation = sys.argv[1:]
headers = {"Operation-Id": operation, "Content-Type": "text/plain"}


def call():
    if kind == "urllib":
        import urllib.request
        request = urllib.request.Request(url, b"doctor", headers, method="POST")
        return urllib.request.urlopen(request, timeout=15).read().decode()
    if kind == "requests":
        import requests
        return requests.post(url, data=b"doctor", headers=headers, timeout=15).text
    if kind == "httpx":
        import httpx
        return httpx.post(url, content=b"doctor", headers=headers, timeout=15).text
    import aiohttp
    import asyncio

    async def post():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:
            async with session.post(url, data=b"doctor", headers=headers) as answer:
                return await answer.text()
    return asyncio.run(post())


try:
    print(call())
except ImportError:
    sys.exit(77)
except Exception as error:
    print(type(error).__name__ + ":", error, file=sys.stderr)
    sys.exit(1)
)py";

constexpr const char* node = R"js(
const [kind, url, operation] = process.argv.slice(1);
const headers = {'Operation-Id': operation, 'Content-Type': 'text/plain'};
const fail = (error) => {
  const texts = [];
  for (let e = error; e; e = e.cause) texts.push([e.code, e.message || e.name].filter(Boolean).join(' '));
  console.error(texts.join(': '));
  process.exit(1);
};
if (kind === 'fetch') {
  if (typeof fetch !== 'function') process.exit(77);
  fetch(url, {method: 'POST', headers, body: 'doctor', signal: AbortSignal.timeout(15000)})
    .then((answer) => answer.text()).then((text) => console.log(text)).catch(fail);
} else {
  const request = require('https').request(url, {method: 'POST', headers, timeout: 15000}, (answer) => {
    let text = '';
    answer.on('data', (part) => { text += part; });
    answer.on('end', () => console.log(text));
  });
  request.on('error', fail);
  request.end('doctor');
}
)js";

constexpr const char* ruby = R"rb(
begin
  require 'net/http'
  require 'openssl'
rescue LoadError
  exit 77
end
url, operation = ARGV
begin
  uri = URI(url)
  http = Net::HTTP.new(uri.host, uri.port)
  http.use_ssl = true
  http.open_timeout = http.read_timeout = 15
  puts http.post(uri.path, 'doctor', 'Operation-Id' => operation, 'Content-Type' => 'text/plain').body
rescue StandardError => error
  warn "#{error.class}: #{error.message}"
  exit 1
end
)rb";

constexpr const char* go = R"go(package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	request, err := http.NewRequest("POST", os.Args[1], strings.NewReader("doctor"))
	if err == nil {
		request.Header.Set("Operation-Id", os.Args[2])
		client := http.Client{Timeout: 15 * time.Second}
		var answer *http.Response
		if answer, err = client.Do(request); err == nil {
			var body []byte
			if body, err = io.ReadAll(answer.Body); err == nil {
				fmt.Println(string(body))
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
)go";

constexpr const char* java = R"java(
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

public class Doctor {
    public static void main(String[] arguments) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0]))
                .timeout(Duration.ofSeconds(15))
                .header("Operation-Id", arguments[1])
                .POST(HttpRequest.BodyPublishers.ofString("doctor"))
                .build();
            HttpResponse<String> answer =
                HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() == 407 ? "HTTP 407" : answer.body());
        } catch (Exception error) {
            StringBuilder text = new StringBuilder();
            for (Throwable at = error; at != null; at = at.getCause()) text.append(at).append("; ");
            System.err.println(text);
            System.exit(1);
        }
    }
}
)java";

constexpr const char* aiohttp_advice = "ClientSession(trust_env=True)";
constexpr const char* node_https_advice = "an agent (https-proxy-agent), or Node 24.5, or 22.21";
constexpr const char* node_fetch_advice = "undici's EnvHttpProxyAgent as dispatcher, or Node 24, or 22.21";
constexpr const char* java_advice =
    "the JVM takes proxy and trust store from JAVA_TOOL_OPTIONS: does something unset it?";
constexpr Millis compiling_time{120'000};

}  // namespace

std::vector<std::pair<std::string, std::string>> probe_programs() { return {{"main.go", go}, {"Doctor.java", java}}; }

std::vector<Probe> probes(const ProbeRequest& request) {
    const std::string url = probe_url(request);
    std::vector<Probe> out;
    const auto add = [&](const char* stack, std::vector<std::string> command) -> Probe& {
        Probe probe;
        probe.stack = stack;
        probe.command = std::move(command);
        out.push_back(std::move(probe));
        return out.back();
    };
    const auto id = [&](const char* stack) { return probe_operation_id(request, stack); };
    add("curl", {"curl", "-sS", "--max-time", "15", "-H", "Operation-Id: " + id("curl"), "--data", "doctor", url});
    add("wget", {"wget", "-nv", "--tries=1", "--timeout=15", "--header=Operation-Id: " + id("wget"),
                 "--post-data=doctor", "-O", "-", url})
        .advice = "--ca-certificate: this build may not read WGETRC";
    for (const char* kind : {"urllib", "requests", "httpx", "aiohttp"}) {
        const std::string stack = std::string("python-") + kind;
        add(stack.c_str(), {"python3", "-c", python, kind, url, id(stack.c_str())});
    }
    out.back().advice = aiohttp_advice;
    add("node-https", {"node", "-e", node, "https", url, id("node-https")}).advice = node_https_advice;
    add("node-fetch", {"node", "-e", node, "fetch", url, id("node-fetch")}).advice = node_fetch_advice;
    add("go", {"go", "run", request.folder + "/main.go", url, id("go")}).time_limit = compiling_time;
    Probe& of_java = add("java-http", {"java", request.folder + "/Doctor.java", url, id("java-http")});
    of_java.needs = "javac";
    of_java.advice = java_advice;
    of_java.time_limit = compiling_time;
    add("ruby", {"ruby", "-e", ruby, url, id("ruby")});
    return out;
}

}  // namespace opid
