import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileInputStream;
import java.net.http.HttpClient;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.IdentityProviderServiceApi;
import org.openapitools.client.api.UserGrantServiceApi;
import org.openapitools.client.api.UserServiceApi;
import org.openapitools.client.model.*;

/** Does the work of test/clients/work.ts by a client that openapi-generator made. */
public class Work {
  private static final ObjectMapper json = ApiClient.createDefaultObjectMapper();
  private static JsonNode work;

  public static void main(String[] arguments) throws Exception {
    work = json.readTree(System.in);
    Map<String, Object> answers = new LinkedHashMap<>();

    JsonNode profile = request("UpdateMyProfile");
    answers.put("UpdateMyProfile", new UserServiceApi(client("UpdateMyProfile")).updateMyProfile(
        new UpdateMyProfileRequest()
            .firstName(text(profile, "firstName"))
            .lastName(text(profile, "lastName"))
            .displayName(text(profile, "displayName"))
            .gender(Gender.fromValue(text(profile, "gender"))),
        organization("UpdateMyProfile"), null, null, null));

    JsonNode idp = request("UpdateIDP");
    answers.put("UpdateIDP", new IdentityProviderServiceApi(client("UpdateIDP")).updateIDP(
        text(idp, "idpId"),
        new UpdateIDPBody()
            .name(text(idp, "name"))
            .stylingType(IDPStylingType.fromValue(text(idp, "stylingType")))
            .autoRegister(idp.get("autoRegister").asBoolean()),
        organization("UpdateIDP"), null, null, null));

    JsonNode machine = request("AddMachineUser");
    answers.put("AddMachineUser", new UserServiceApi(client("AddMachineUser")).addMachineUser(
        new AddMachineUserRequest()
            .userName(text(machine, "userName"))
            .name(text(machine, "name"))
            .accessTokenType(AccessTokenType.fromValue(text(machine, "accessTokenType"))),
        organization("AddMachineUser"), null, null, null));

    JsonNode email = request("SetEmail");
    answers.put("SetEmail", new UserServiceApi(client("SetEmail")).setEmail(
        text(email, "userId"),
        new SetEmailBody().email(text(email, "email")).returnCode(Map.of()),
        organization("SetEmail"), null, null, null));

    JsonNode grant = request("AddUserGrant");
    List<String> roleKeys = new ArrayList<>();
    grant.get("roleKeys").forEach(key -> roleKeys.add(key.asText()));
    answers.put("AddUserGrant", new UserGrantServiceApi(client("AddUserGrant")).addUserGrant(
        text(grant, "userId"),
        new AddUserGrantBody().projectId(text(grant, "projectId")).roleKeys(roleKeys),
        organization("AddUserGrant"), null, null, null));

    UserNameQuery named =
        new UserNameQuery().userName(text(machine, "userName")).method(TextQueryMethod.TEXT_QUERY_METHOD_EQUALS);
    answers.put("SearchUsers", new UserServiceApi(client("SearchUsers")).searchUsers(
        organization("SearchUsers"),
        new SearchUsersRequest().addQueriesItem(new SearchQuery().userNameQuery(named)).withTotal(true)));

    Status status = null;
    try {
      new UserServiceApi(client("SetEmail"))
          .setEmail(
              text(email, "userId"), new SetEmailBody().email("a..b@example.com"),
              organization("SetEmail"), null, null, null);
    } catch (ApiException refused) {
      status = json.readValue(refused.getResponseBody(), Status.class);
    }
    json.writeValue(System.out, Map.of("answers", answers, "error", readError(status)));
  }

  private static Map<String, Object> readError(Status status) {
    Map<String, Object> error = new LinkedHashMap<>(Map.of("code", status.getCode(), "message", status.getMessage()));
    for (ErrorDetail detail : status.getDetails()) {
      if (detail.getReason() != null) error.put("reason", detail.getReason());
      for (BadRequestFieldViolation violation : detail.getFieldViolations()) error.put("field", violation.getField());
    }
    return error;
  }

  private static JsonNode request(String operation) {
    return work.get("calls").get(operation).get("request");
  }

  private static String text(JsonNode object, String field) {
    return object.get(field).asText();
  }

  private static String organization(String operation) {
    return text(work.get("calls").get(operation), "organization");
  }

  private static ApiClient client(String operation) throws Exception {
    HttpClient.Builder http = HttpClient.newBuilder();
    String certificate = text(work, "certificate");
    if (!certificate.isEmpty()) http.sslContext(trusting(certificate));
    String token = text(work.get("calls").get(operation), "token");
    return new ApiClient(http, json, text(work, "url"))
        .setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
  }

  private static SSLContext trusting(String certificate) throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (FileInputStream file = new FileInputStream(certificate)) {
      trusted.setCertificateEntry("roster", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }
}
