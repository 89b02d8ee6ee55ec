import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJWSException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.util.JSONObjectUtils;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.HashSet;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Gets a token and verifies it with Nimbus. */
public class Client {
  public static void main(String[] arguments) throws Exception {
    var task = JSONObjectUtils.parse(new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
    var certificate = JSONObjectUtils.getString(task, "certificate");
    if (!certificate.isEmpty()) trust(certificate);
    var issuer = new Issuer(JSONObjectUtils.getString(task, "issuer"));
    var id = new ClientID(JSONObjectUtils.getString(task, "clientId"));
    var secret = new Secret(JSONObjectUtils.getString(task, "clientSecret"));

    var metadata = OIDCProviderMetadata.resolve(issuer);
    var request =
        new TokenRequest.Builder(
                metadata.getTokenEndpointURI(), new ClientSecretBasic(id, secret), new ClientCredentialsGrant())
            .build();
    var answer = TokenResponse.parse(request.toHTTPRequest().send()).toSuccessResponse();
    var token = answer.getTokens().getAccessToken().getValue();

    var verifier = verifier(metadata, issuer);
    var subject = verifier.process(token, null).getSubject();
    var refused = false;
    try {
      verifier.process(token.substring(0, token.lastIndexOf('.') + 1) + "A".repeat(86), null);
    } catch (BadJWSException error) {
      refused = true;
    }
    System.out.printf("{\"subject\":\"%s\",\"refused\":%s}%n", subject, refused);
  }

  static void trust(String certificate) throws Exception {
    var keys = KeyStore.getInstance(KeyStore.getDefaultType());
    keys.load(null, null);
    try (var file = new FileInputStream(certificate)) {
      keys.setCertificateEntry("roster", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(keys);
    var context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    SSLContext.setDefault(context);
  }

  private static DefaultJWTProcessor<SecurityContext> verifier(OIDCProviderMetadata metadata, Issuer issuer)
      throws Exception {
    var processor = new DefaultJWTProcessor<SecurityContext>();
    var keys = JWKSourceBuilder.create(metadata.getJWKSetURI().toURL()).build();
    Set<JWSAlgorithm> algorithms = new HashSet<>(metadata.getIDTokenJWSAlgs());
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithms, keys));
    processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
    var expected = new JWTClaimsSet.Builder().issuer(issuer.getValue()).build();
    // An access token for Roster itself has the issuer as its audience.
    processor.setJWTClaimsSetVerifier(
        new DefaultJWTClaimsVerifier<>(issuer.getValue(), expected, Set.of("sub", "exp")));
    return processor;
  }
}
