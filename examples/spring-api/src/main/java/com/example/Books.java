package com.example;

import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.security.oauth2.server.resource.autoconfigure.servlet.JwkSetUriJwtDecoderBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtTypeValidator;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An API that checks access tokens of Roster, and a role. */
@SpringBootApplication
@RestController
public class Books {
  public static void main(String[] arguments) {
    SpringApplication.run(Books.class, arguments);
  }

  /** As it comes, the decoder takes the type `JWT` alone. Roster's access tokens have `at+jwt` (RFC 9068) ... */
  @Bean
  JwkSetUriJwtDecoderBuilderCustomizer leavesTheTypeToTheValidator() {
    return decoder -> decoder.validateType(false);
  }

  /** ... and nothing else is one, ID tokens neither. */
  @Bean
  OAuth2TokenValidator<Jwt> accessTokensAlone() {
    return new JwtTypeValidator("at+jwt");
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http) throws Exception {
    return http.authorizeHttpRequests(
            requests -> requests.requestMatchers("/books").hasRole("reader").anyRequest().denyAll())
        .oauth2ResourceServer(server -> server.jwt(jwt -> {}))
        .build();
  }

  @GetMapping("/books")
  Map<String, Object> books(@AuthenticationPrincipal Jwt token) {
    return Map.of("reader", token.getSubject(), "books", List.of("The Mythical Man-Month"));
  }
}
