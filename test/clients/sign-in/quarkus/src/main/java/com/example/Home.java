package com.example;

import io.quarkus.oidc.IdToken;
import io.quarkus.security.identity.SecurityIdentity;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.jwt.JsonWebToken;

/** As https://quarkus.io/guides/security-oidc-code-flow-authentication shows it. */
@Path("/")
public class Home {
  @Inject @IdToken JsonWebToken idToken;
  @Inject SecurityIdentity identity;

  @GET
  public String home() {
    return "Signed in as " + idToken.getClaim("name") + ", " + String.join(",", identity.getRoles());
  }
}
