import static java.net.http.HttpRequest.BodyPublishers.ofByteArray;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Reads a line for each request: its verb, its URL, how many braces are its body, and its headers by name and value,
 * with tabs between them. Prints a line for each answer: its version, its status, and its body in base64; or
 * "broken" and the reason. The argument is the file of the certificate to trust.
 */
public class Answers {
  public static void main(String[] arguments) throws Exception {
    var builder = HttpClient.newBuilder();
    if (arguments.length > 0) builder.sslContext(trust(arguments[0]));
    var client = builder.build();
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      var parts = line.split("\t");
      var body = new byte[Integer.parseInt(parts[2])];
      Arrays.fill(body, (byte) '{');
      var request = HttpRequest.newBuilder(URI.create(parts[1])).timeout(Duration.ofSeconds(30));
      request.method(parts[0], body.length == 0 ? HttpRequest.BodyPublishers.noBody() : ofByteArray(body));
      if (parts.length > 3) request.headers(Arrays.copyOfRange(parts, 3, parts.length));
      try {
        var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        var text = Base64.getEncoder().encodeToString(answer.body());
        System.out.println(answer.version() + "\t" + answer.statusCode() + "\t" + text);
      } catch (Exception error) {
        System.out.println("broken\t" + error);
      }
    }
  }

  static SSLContext trust(String file) throws Exception {
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("roster", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(file)));
    var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(store);
    var context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }
}
