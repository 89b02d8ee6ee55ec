import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'

/** What is wrong with a request whose application and redirect URI are right. */
export interface Mistake {
  /** RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6, RFC 8707 section 2. */
  error:
    | 'invalid_request'
    | 'invalid_scope'
    | 'invalid_target'
    | 'login_required'
    | 'request_not_supported'
    | 'request_uri_not_supported'
    | 'unmet_authentication_requirements'
    | 'unsupported_response_type'
  /** Its name on the wire. */
  parameter: string
  rule: Rule
  /** That the rule names. */
  values: string[]
}

export type Rule = Exclude<ParameterRule, ParameterRule.PARAMETER_RULE_UNSPECIFIED | ParameterRule.UNRECOGNIZED>

export function mistake(
  parameter: string,
  rule: Rule,
  values: string[] = [],
  error: Mistake['error'] = 'invalid_request',
): Mistake {
  // A stranger's words would otherwise be ours.
  return { error, parameter: /^[a-z_]{1,40}$/.test(parameter) ? parameter : '', rule, values }
}

/** A sentence for developers, of characters that an `error_description` may have. The pages have their own. */
export function describe({ parameter, rule, values }: Pick<Mistake, 'parameter' | 'rule' | 'values'>): string {
  return `${parameter || 'A parameter'} ${mustBe[rule]([values.join(', '), ...values])}.`
}

const mustBe: Record<Rule, (values: [string, ...string[]]) => string> = {
  [ParameterRule.PARAMETER_RULE_ONCE]: () => 'must not come more than once',
  [ParameterRule.PARAMETER_RULE_ONE_OF]: ([all, , other]) => `must be ${other === undefined ? '' : 'one of '}${all}`,
  [ParameterRule.PARAMETER_RULE_WORDS]: ([all]) => `may have the words ${all} alone`,
  [ParameterRule.PARAMETER_RULE_ALONE]: ([value]) => `must have no other word beside ${value}`,
  [ParameterRule.PARAMETER_RULE_LEFT_OUT]: () => 'must be left out: it is not supported',
  [ParameterRule.PARAMETER_RULE_LENGTH]: ([most]) => `must have at most ${most} characters`,
  [ParameterRule.PARAMETER_RULE_SECONDS]: () => 'must be a whole number of seconds',
  [ParameterRule.PARAMETER_RULE_HASH]: () => 'must be SHA-256 in base64url, which has 43 characters',
  [ParameterRule.PARAMETER_RULE_REQUIRED]: () => 'must be sent (PKCE), for the application does not prove who it is',
  [ParameterRule.PARAMETER_RULE_REQUIRED_OR_NONCE]: () =>
    'must be sent (PKCE), or a nonce together with the scope openid',
  [ParameterRule.PARAMETER_RULE_REQUIRED_BESIDE]: ([other]) => `must be sent together with ${other}`,
  [ParameterRule.PARAMETER_RULE_CLAIMS]: ([, characters, names]) =>
    `must be a JSON object of claims, with at most ${characters} characters and ${names} names`,
  [ParameterRule.PARAMETER_RULE_ACR]: ([all]) => `must ask for an acr that is one of ${all}`,
  [ParameterRule.PARAMETER_RULE_SCOPE_CHARACTERS]: () => 'must be printable ASCII, with blanks between scopes',
  [ParameterRule.PARAMETER_RULE_SCOPE_ORGANIZATION]: ([scope]) =>
    `must name one organization at most, spelled as ${scope}`,
  [ParameterRule.PARAMETER_RULE_SCOPE_OTHER_ORGANIZATION]: () =>
    'must not name another organization than the settings of the application',
  [ParameterRule.PARAMETER_RULE_SCOPE_PROJECT]: () => 'must not name another project than that of the application',
  [ParameterRule.PARAMETER_RULE_SCOPE_ROSTER]: ([scope]) =>
    `must not have ${scope}, which the application may not have, or not together with a project`,
  [ParameterRule.PARAMETER_RULE_SCOPE_UNKNOWN]: () => 'must have a scope that is known, or be left out',
  [ParameterRule.PARAMETER_RULE_ID_TOKEN]: () => 'must be an ID token that this application has from here',
  [ParameterRule.PARAMETER_RULE_CLIENT]: () => 'must name a client that is there and active',
  [ParameterRule.PARAMETER_RULE_CLIENT_OF]: ([hint]) => `must be the client that the ID token in ${hint} was issued to`,
  [ParameterRule.PARAMETER_RULE_SCOPE_PROVIDER]: () =>
    'must name one identity provider at most: an active one that the login policy lists',
  [ParameterRule.PARAMETER_RULE_REGISTERED]: () => 'must be one that the application has registered',
}
