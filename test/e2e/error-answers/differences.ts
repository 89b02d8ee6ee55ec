/** Where Roster's answer is another than oidc-provider's: what it is, and why. */
export const differences: { because: string; answers: Record<string, string> }[] = [
  {
    because: 'The contract: an error comes in the query, unless the request says response_mode.',
    answers: {
      'authorize, response_type token': 'query: unsupported_response_type, iss, state',
      'authorize, response_type code id_token': 'query: unsupported_response_type, iss, state',
    },
  },
  {
    because:
      'RFC 6749, 4.1.2.1: invalid_request is for an unsupported value. The name that oidc-provider has is its own.',
    answers: { 'authorize, response_mode unknown': 'query: invalid_request, iss, state' },
  },
  {
    because: 'The contract: scopes that are not known are left out, and without openid no ID token comes.',
    answers: {
      'authorize, without scope': 'query: a code, iss, state',
    },
  },
  {
    because: 'RFC 6749, 4.1.2.1: a request of which no scope is known has an error of its own.',
    answers: { 'authorize, scope unknown alone': 'query: invalid_scope, iss, state' },
  },
  {
    because:
      'The contract: until the redirect URI is known to be right, an error is a page. OpenID Connect requires one.',
    answers: {
      'authorize, without redirect_uri': 'page',
      'authorize, redirect_uri twice': 'page',
    },
  },
  {
    because:
      'The contract: an error goes to the application at once only when somebody is signed in (RFC 9700, 4.11.2).',
    answers: {
      'authorize, an error of nobody': 'page',
    },
  },
  {
    because:
      'OAuth 2.1, 7.5: a confidential client may send a nonce in place of PKCE. oidc-provider has one rule for each client.',
    answers: { 'authorize, a nonce in place of code_challenge, with openid': 'query: a code, iss, state' },
  },
  {
    because: 'docs/sign-in.md: a hint that is none lets in anybody whom a page shows, and nobody without a page.',
    answers: {
      'authorize, id_token_hint no token': 'query: a code, iss, state',
      'authorize, id_token_hint no token, without a page': 'query: login_required, iss, state',
    },
  },
  {
    because:
      'RFC 6749, 3.1: what a server does not know is ignored. The parameter is for providers that people run themselves.',
    answers: { 'authorize, registration': 'query: a code, iss, state' },
  },
  {
    because: 'HTTP has a status for it.',
    answers: {
      'token by GET': '405',
      'revocation by GET': '405',
      'token, JSON': '415 invalid_request',
    },
  },
  {
    because: 'RFC 6749, 5.2: this error is for a client that may not use a grant that exists.',
    answers: { 'token, grant_type client_credentials': '400 unauthorized_client' },
  },
  {
    because: 'RFC 7636, 4.6: a verifier that does not fit is an invalid grant, whatever it looks like.',
    answers: { 'token, code_verifier too short': '400 invalid_grant' },
  },
  {
    because: 'RFC 6749, 5.2: invalid_client is for an unknown client, for no authentication, and for another method.',
    answers: {
      'token of nobody': '400 invalid_client',
      'token of a public client without client_id': '400 invalid_client',
      'token, a client_assertion that is none': '400 invalid_client',
      'token, Basic no Base64': '401 invalid_client, Basic',
      'token, Basic without a colon': '401 invalid_client, Basic',
      'introspection of nobody': '400 invalid_client',
      'revocation of nobody': '400 invalid_client',
    },
  },
  {
    because: 'docs/oauth.md: invalid_client is 401 for HTTP Basic alone, which is what 401 has a challenge for.',
    answers: {
      'token of a public client with a secret': '400 invalid_client',
      'token of an unknown client by the form': '400 invalid_client',
      'token, secret wrong by the form': '400 invalid_client',
      'token without the secret by the form': '400 invalid_client',
    },
  },
  {
    because: 'RFC 6749, 4.1.3: what authorize got comes again, and 5.2: this error is for a parameter that is missing.',
    answers: { 'token without redirect_uri': '400 invalid_request' },
  },
  {
    because: 'The contract: a scope at a refresh narrows. zitadel/oidc sends all that it once asked for.',
    answers: { 'refresh, scope unknown': '200', 'refresh, scope that was not given': '200' },
  },
  {
    because: 'RFC 6749, 3.1: no parameter comes more than once, whether or not the server knows it.',
    answers: { 'authorize, an unknown parameter twice': 'query: invalid_request, iss, state' },
  },
  {
    because: 'RFC 6750, 3.1: a request without a token, or by another scheme, is 401, and its challenge has no error.',
    answers: {
      'userinfo, by Basic': '401 invalid_token, Bearer',
      'userinfo, token in the address': '401 invalid_token, Bearer',
    },
  },
  {
    because: 'An empty token is one of the false tokens, which all have one error.',
    answers: { 'userinfo, token empty': '401 invalid_token, Bearer invalid_token' },
  },
  {
    because: 'The contract: public clients do not introspect.',
    answers: { 'introspection by a public client': '400 invalid_client' },
  },
  {
    because: 'RevokeToken: a token that is not the client’s changes nothing and is no error. RFC 7009, 2.1 wants one.',
    answers: { 'revocation of another client’s token': '200' },
  },
]
