package com.example;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.authority.mapping.GrantedAuthoritiesMapper;
import org.springframework.security.oauth2.client.ClientAuthorizationException;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.core.oidc.user.OidcUserAuthority;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A web server whose users sign in with Roster. */
@SpringBootApplication
@RestController
public class Shop {
  public static void main(String[] arguments) {
    SpringApplication.run(Shop.class, arguments);
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository registrations) throws Exception {
    // Sends the browser to Roster with the ID token as a hint, and back here.
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(registrations);
    signOut.setPostLogoutRedirectUri("{baseUrl}/");
    return http.authorizeHttpRequests(
            requests -> requests.requestMatchers("/books").hasRole("reader").anyRequest().authenticated())
        .oauth2Login(signIn -> {})
        .logout(logout -> logout.logoutSuccessHandler(signOut))
        .build();
  }

  /** Each role is an authority, so that hasRole finds it. */
  @Bean
  GrantedAuthoritiesMapper roles() {
    return authorities -> {
      var all = new HashSet<GrantedAuthority>(authorities);
      for (var authority : authorities)
        if (authority instanceof OidcUserAuthority person && person.getIdToken().hasClaim("roles"))
          for (var role : person.getIdToken().getClaimAsStringList("roles"))
            all.add(new SimpleGrantedAuthority("ROLE_" + role));
      return all;
    };
  }

  @GetMapping("/")
  Map<String, Object> home(@AuthenticationPrincipal OidcUser person) {
    var roles = person.getIdToken().getClaimAsStringList("roles");
    return Map.of("name", person.getFullName(), "roles", roles == null ? List.of() : roles);
  }

  @GetMapping("/books")
  List<String> books() {
    return List.of("The Mythical Man-Month");
  }

  /** Spring refreshes an access token that has less than a minute left: before it hands it out, here. */
  @GetMapping("/expiry")
  String expiry(@RegisteredOAuth2AuthorizedClient("roster") OAuth2AuthorizedClient roster) {
    return String.valueOf(roster.getAccessToken().getExpiresAt());
  }

  /** Roster refused a refresh: the sign-in that the token came of is over. So the person signs in again. */
  @ExceptionHandler
  ResponseEntity<Void> signInAgain(ClientAuthorizationException refused) {
    // Otherwise Roster cannot be reached, or Spring itself begins a sign-in.
    if (!refused.getError().getErrorCode().equals("invalid_grant")) throw refused;
    return ResponseEntity.status(303).location(URI.create("/oauth2/authorization/roster")).build();
  }
}
