import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.proc.BadJWSException;
import com.nimbusds.jwt.JWTParser;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.util.JSONObjectUtils;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import net.minidev.json.JSONObject;

/** Signs a person in with Nimbus. */
public class Person {
  public static void main(String[] arguments) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var task = JSONObjectUtils.parse(input.readLine());
    var certificate = JSONObjectUtils.getString(task, "certificate");
    if (!certificate.isEmpty()) Client.trust(certificate);
    var issuer = new Issuer(JSONObjectUtils.getString(task, "issuer"));
    var client =
        new ClientSecretBasic(
            new ClientID(JSONObjectUtils.getString(task, "clientId")),
            new Secret(JSONObjectUtils.getString(task, "clientSecret")));
    var redirectUri = new URI(JSONObjectUtils.getString(task, "redirectUri"));

    var metadata = OIDCProviderMetadata.resolve(issuer);
    var state = new State();
    var nonce = new Nonce();
    var verifier = new CodeVerifier();
    var request =
        new AuthenticationRequest.Builder(
                ResponseType.CODE, new Scope("openid", "profile", "offline_access"), client.getClientID(), redirectUri)
            .endpointURI(metadata.getAuthorizationEndpointURI())
            .state(state)
            .nonce(nonce)
            .codeChallenge(verifier, CodeChallengeMethod.S256)
            .build();
    print(Map.of("visit", request.toURI().toString()));
    var came = new URI((String) JSONObjectUtils.parse(input.readLine()).get("came"));
    var answer = AuthenticationResponseParser.parse(came).toSuccessResponse();
    if (!answer.getState().equals(state) || !answer.getIssuer().equals(issuer))
      throw new IllegalStateException("not the answer to this request: " + came);

    var endpoint = metadata.getTokenEndpointURI();
    var tokens =
        ask(endpoint, client, new AuthorizationCodeGrant(answer.getAuthorizationCode(), redirectUri, verifier));
    var keys = metadata.getJWKSetURI().toURL();
    var idTokens = new IDTokenValidator(issuer, client.getClientID(), JWSAlgorithm.RS256, keys);
    var claims = idTokens.validate(tokens.getIDToken(), nonce);
    var refused = false;
    var text = tokens.getIDTokenString();
    try {
      idTokens.validate(JWTParser.parse(text.substring(0, text.lastIndexOf('.') + 1) + "A".repeat(86)), nonce);
    } catch (BadJWSException error) {
      refused = true;
    }

    var refreshed = ask(endpoint, client, new RefreshTokenGrant(tokens.getRefreshToken()));
    var info =
        UserInfoResponse.parse(
                new UserInfoRequest(metadata.getUserInfoEndpointURI(), refreshed.getAccessToken())
                    .toHTTPRequest()
                    .send())
            .toSuccessResponse()
            .getUserInfo();
    print(
        Map.of(
            "subject", claims.getSubject().getValue(),
            "refreshed", idTokens.validate(refreshed.getIDToken(), null).getSubject().getValue(),
            "name", info.getName(),
            "refused", refused));
  }

  private static OIDCTokens ask(URI endpoint, ClientSecretBasic client, AuthorizationGrant grant) throws Exception {
    var request = new TokenRequest.Builder(endpoint, client, grant).build();
    var answer = OIDCTokenResponseParser.parse(request.toHTTPRequest().send()).toSuccessResponse();
    return ((OIDCTokenResponse) answer).getOIDCTokens();
  }

  private static void print(Map<String, Object> what) {
    System.out.println(new JSONObject(what).toJSONString());
  }
}
