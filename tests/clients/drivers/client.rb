# Ruby's Net::HTTP, led by the environment. Lines: see lines.mjs.
require "json"
require "net/http"

$stdout.sync = true

def say(*words)
  puts words.map { |word| text = word.to_s.split.join(" "); text.empty? ? "-" : text }.join("\t")
end

def request(url, verb, operation = nil, text = nil)
  uri = URI(url)
  http = Net::HTTP.new(uri.host, uri.port)
  http.use_ssl = true
  http.start do
    call = verb.new(uri.request_uri)
    if operation
      call["Operation-Id"], call["Content-Type"] = operation, "application/json"
      call.body = JSON.generate(text: text)
    end
    http.request(call) { |response| yield response, http }
  end
end

def answer(response)
  body = response.read_body
  say "answer", response.code, response["Idempotent-Replayed"], body
end

def events(response)
  rest = +""
  response.read_body do |piece|
    rest << piece
    while (line = rest.slice!(/\A.*?\n/))
      say "event", line[6..] if line.start_with?("data: ")
    end
  end
  say "end"
end

def blind(response, http)
  seen = JSON.parse(response.read_body)
  issuer = http.peer_cert.issuer.to_a.assoc("CN")[1]
  say "blind", issuer, seen["via"] ? "through #{seen['via']}" : seen["protocol"]
end

say "ready", RUBY_VERSION, "environment"
$stdin.each_line(chomp: true) do |line|
  verb, url, operation, text = line.split("\t")
  case verb
  when "write" then request(url, Net::HTTP::Post, operation, text) { |response, _| answer(response) }
  when "read" then request(url, Net::HTTP::Get) { |response, _| answer(response) }
  when "events" then request(url, Net::HTTP::Get) { |response, _| events(response) }
  when "blind" then request(url, Net::HTTP::Get) { |response, http| blind(response, http) }
  end
rescue StandardError => e
  say "error", e.class, e.message
end
