// Java's two clients, led by the properties in JAVA_TOOL_OPTIONS: java Client.java http | url. Lines: see lines.mjs.
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.HttpsURLConnection;

public class Client {
    record Answer(int status, String replayed, InputStream body, Certificate[] certificates) {}

    interface Stack {
        Answer send(String method, String url, String operation, String text) throws Exception;
    }

    static void say(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            String flat = word == null ? "-" : word.toString().trim().replaceAll("\\s+", " ");
            line.append(line.length() == 0 ? "" : "\t").append(flat.isEmpty() ? "-" : flat);
        }
        System.out.println(line);
        System.out.flush();
    }

    static final HttpClient client = HttpClient.newHttpClient();

    static Answer viaHttpClient(String method, String url, String operation, String text) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        if (operation != null) {
            request.header("Operation-Id", operation).header("Content-Type", "application/json");
            request.method(method, HttpRequest.BodyPublishers.ofString(json(text)));
        }
        HttpResponse<InputStream> response = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        return new Answer(response.statusCode(), response.headers().firstValue("Idempotent-Replayed").orElse(null),
                response.body(), response.sslSession().get().getPeerCertificates());
    }

    static Answer viaConnection(String method, String url, String operation, String text) throws Exception {
        HttpsURLConnection connection = (HttpsURLConnection) new URL(url).openConnection();
        connection.setRequestMethod(method);
        if (operation != null) {
            connection.setRequestProperty("Operation-Id", operation);
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(json(text).getBytes(StandardCharsets.UTF_8));
            }
        }
        int status = connection.getResponseCode();
        InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        return new Answer(status, connection.getHeaderField("Idempotent-Replayed"), body, connection.getServerCertificates());
    }

    static String json(String text) {
        return "{\"text\":\"" + text + "\"}";
    }

    static String all(InputStream body) throws Exception {
        return body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }

    static void answer(Answer answer) throws Exception {
        say("answer", answer.status(), answer.replayed(), all(answer.body()));
    }

    static void events(Answer answer) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data: ")) say("event", line.substring(6));
        }
        say("end");
    }

    static void blind(Answer answer) throws Exception {
        Matcher issuer = Pattern.compile("CN=([^,]*)")
                .matcher(((X509Certificate) answer.certificates()[0]).getIssuerX500Principal().getName());
        String body = all(answer.body());
        Matcher seen = Pattern.compile("\"protocol\":\"([^\"]*)\",\"via\":(null)?").matcher(body);
        say("blind", issuer.find() ? issuer.group(1) : "-", seen.find() && seen.group(2) != null ? seen.group(1) : body);
    }

    public static void main(String[] arguments) throws Exception {
        Stack stack = arguments[0].equals("http") ? Client::viaHttpClient : Client::viaConnection;
        say("ready", System.getProperty("java.version"), "environment (JAVA_TOOL_OPTIONS)");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            try {
                switch (words[0]) {
                    case "write" -> answer(stack.send("POST", words[1], words[2], words[3]));
                    case "read" -> answer(stack.send("GET", words[1], null, null));
                    case "events" -> events(stack.send("GET", words[1], null, null));
                    case "blind" -> blind(stack.send("GET", words[1], null, null));
                    default -> say("error", "verb", words[0]);
                }
            } catch (Exception e) {
                say("error", e.getClass().getSimpleName(), e.getMessage());
            }
        }
    }
}
