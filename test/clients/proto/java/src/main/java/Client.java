import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.Status;
import com.roster.grants.v1.AddUserGrantRequest;
import com.roster.grants.v1.UserGrantServiceGrpc;
import com.roster.idp.v1.IdentityProviderServiceGrpc;
import com.roster.idp.v1.UpdateIDPRequest;
import com.roster.users.v1.AddMachineUserRequest;
import com.roster.users.v1.SearchUsersRequest;
import com.roster.users.v1.SetEmailRequest;
import com.roster.users.v1.UpdateMyProfileRequest;
import com.roster.users.v1.UserServiceGrpc;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/** Calls Roster with grpc-java: reads what to do from the standard input, and prints what it did. */
public class Client {
  public static void main(String[] arguments) throws Exception {
    var work = JsonParser.parseReader(new InputStreamReader(System.in)).getAsJsonObject();
    var channel = connect(URI.create(work.get("url").getAsString()), work.get("certificate").getAsString());
    var answers = new LinkedHashMap<String, JsonElement>();
    for (var call : work.getAsJsonObject("calls").entrySet()) {
      answers.put(call.getKey(), toJson(perform(channel, call.getKey(), call.getValue().getAsJsonObject())));
    }
    var wrong = work.getAsJsonObject("calls").getAsJsonObject("SetEmail");
    wrong.add("request", JsonParser.parseString("{\"userId\":\"unknown\"}"));
    try {
      perform(channel, "SetEmail", wrong);
    } catch (StatusRuntimeException error) {
      System.out.println(new Gson().toJson(Map.of("answers", answers, "error", read(StatusProto.fromThrowable(error)))));
    }
    channel.shutdownNow();
  }

  private static ManagedChannel connect(URI address, String certificate) throws Exception {
    ChannelCredentials credentials =
        certificate.isEmpty()
            ? InsecureChannelCredentials.create()
            : TlsChannelCredentials.newBuilder().trustManager(new File(certificate)).build();
    return Grpc.newChannelBuilderForAddress(address.getHost(), address.getPort(), credentials).build();
  }

  private static Message perform(ManagedChannel channel, String operation, JsonObject call) throws Exception {
    var users = as(call, UserServiceGrpc.newBlockingStub(channel));
    var idps = as(call, IdentityProviderServiceGrpc.newBlockingStub(channel));
    var grants = as(call, UserGrantServiceGrpc.newBlockingStub(channel));
    return switch (operation) {
      case "UpdateMyProfile" -> users.updateMyProfile(request(call, UpdateMyProfileRequest.newBuilder()).build());
      case "UpdateIDP" -> idps.updateIDP(request(call, UpdateIDPRequest.newBuilder()).build());
      case "AddMachineUser" -> users.addMachineUser(request(call, AddMachineUserRequest.newBuilder()).build());
      case "SetEmail" -> users.setEmail(request(call, SetEmailRequest.newBuilder()).build());
      case "AddUserGrant" -> grants.addUserGrant(request(call, AddUserGrantRequest.newBuilder()).build());
      case "SearchUsers" -> users.searchUsers(request(call, SearchUsersRequest.newBuilder()).build());
      default -> throw new IllegalArgumentException(operation);
    };
  }

  private static <S extends AbstractStub<S>> S as(JsonObject call, S stub) {
    var headers = new Metadata();
    headers.put(header("authorization"), "Bearer " + call.get("token").getAsString());
    headers.put(header("x-service-orgid"), call.get("organization").getAsString());
    return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private static <B extends Message.Builder> B request(JsonObject call, B builder) throws Exception {
    JsonFormat.parser().merge(call.get("request").toString(), builder);
    return builder;
  }

  private static JsonElement toJson(MessageOrBuilder answer) throws Exception {
    return JsonParser.parseString(JsonFormat.printer().print(answer));
  }

  private static Map<String, Object> read(Status status) throws Exception {
    var reason = "";
    var field = "";
    for (Any detail : status.getDetailsList()) {
      if (detail.is(ErrorInfo.class)) reason = detail.unpack(ErrorInfo.class).getReason();
      if (detail.is(BadRequest.class)) field = detail.unpack(BadRequest.class).getFieldViolations(0).getField();
    }
    return Map.of("code", status.getCode(), "message", status.getMessage(), "reason", reason, "field", field);
  }
}
