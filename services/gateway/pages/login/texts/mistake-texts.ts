import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'

type RuleTexts = Record<Exclude<ParameterRule, ParameterRule.UNRECOGNIZED>, string>

const en: RuleTexts = {
  [ParameterRule.PARAMETER_RULE_UNSPECIFIED]: '{parameter} is wrong.',
  [ParameterRule.PARAMETER_RULE_ONCE]: '{parameter} must not come more than once.',
  [ParameterRule.PARAMETER_RULE_ONE_OF]: '{parameter} must be {values}.',
  [ParameterRule.PARAMETER_RULE_WORDS]: '{parameter} may have these words alone: {values}.',
  [ParameterRule.PARAMETER_RULE_ALONE]: '{parameter} must have nothing beside {values}.',
  [ParameterRule.PARAMETER_RULE_LEFT_OUT]: '{parameter} is not supported, and must be left out.',
  [ParameterRule.PARAMETER_RULE_LENGTH]: '{parameter} must have at most {values} characters.',
  [ParameterRule.PARAMETER_RULE_SECONDS]: '{parameter} must be a whole number of seconds.',
  [ParameterRule.PARAMETER_RULE_HASH]: '{parameter} must be SHA-256 in base64url, which has 43 characters.',
  [ParameterRule.PARAMETER_RULE_REQUIRED]:
    '{parameter} must be sent (PKCE), because the application does not prove who it is.',
  [ParameterRule.PARAMETER_RULE_REQUIRED_OR_NONCE]:
    '{parameter} must be sent (PKCE), or a nonce together with the scope openid.',
  [ParameterRule.PARAMETER_RULE_REQUIRED_BESIDE]: '{parameter} must be sent together with {values}.',
  [ParameterRule.PARAMETER_RULE_CLAIMS]:
    '{parameter} must be a JSON object of claims. The most characters and names: {values}.',
  [ParameterRule.PARAMETER_RULE_ACR]: '{parameter} must ask for an acr that is one of {values}.',
  [ParameterRule.PARAMETER_RULE_SCOPE_CHARACTERS]: '{parameter} must be printable ASCII, with blanks between scopes.',
  [ParameterRule.PARAMETER_RULE_SCOPE_ORGANIZATION]:
    '{parameter} must name one organization at most, spelled as {values}.',
  [ParameterRule.PARAMETER_RULE_SCOPE_OTHER_ORGANIZATION]:
    '{parameter} must not name another organization than the settings of the application.',
  [ParameterRule.PARAMETER_RULE_SCOPE_PROJECT]:
    '{parameter} must not name another project than that of the application.',
  [ParameterRule.PARAMETER_RULE_SCOPE_ROSTER]:
    '{parameter} must not have {values}: the application may not have it, or not together with a project.',
  [ParameterRule.PARAMETER_RULE_SCOPE_UNKNOWN]: '{parameter} must have a scope that is known, or be left out.',
  [ParameterRule.PARAMETER_RULE_SCOPE_PROVIDER]:
    '{parameter} must name one identity provider at most, by which people can sign in here.',
  [ParameterRule.PARAMETER_RULE_ID_TOKEN]: '{parameter} must be an ID token that the application has from here.',
  [ParameterRule.PARAMETER_RULE_CLIENT]: '{parameter} must name an application that exists and is switched on.',
  [ParameterRule.PARAMETER_RULE_CLIENT_OF]: '{parameter} must be the one that the ID token in {values} was issued to.',
  [ParameterRule.PARAMETER_RULE_REGISTERED]: '{parameter} must be one that is registered with the application.',
}

const de: RuleTexts = {
  [ParameterRule.PARAMETER_RULE_UNSPECIFIED]: '{parameter} ist falsch.',
  [ParameterRule.PARAMETER_RULE_ONCE]: '{parameter} darf nur einmal vorkommen.',
  [ParameterRule.PARAMETER_RULE_ONE_OF]: '{parameter} muss {values} sein.',
  [ParameterRule.PARAMETER_RULE_WORDS]: '{parameter} darf nur diese Wörter enthalten: {values}.',
  [ParameterRule.PARAMETER_RULE_ALONE]: '{parameter} darf neben {values} nichts enthalten.',
  [ParameterRule.PARAMETER_RULE_LEFT_OUT]: '{parameter} wird nicht unterstützt und muss wegbleiben.',
  [ParameterRule.PARAMETER_RULE_LENGTH]: '{parameter} darf höchstens {values} Zeichen haben.',
  [ParameterRule.PARAMETER_RULE_SECONDS]: '{parameter} muss eine ganze Zahl von Sekunden sein.',
  [ParameterRule.PARAMETER_RULE_HASH]: '{parameter} muss SHA-256 in base64url sein; das sind 43 Zeichen.',
  [ParameterRule.PARAMETER_RULE_REQUIRED]:
    '{parameter} muss mitkommen (PKCE), weil die Anwendung nicht nachweist, wer sie ist.',
  [ParameterRule.PARAMETER_RULE_REQUIRED_OR_NONCE]:
    '{parameter} muss mitkommen (PKCE), oder eine nonce zusammen mit dem Scope openid.',
  [ParameterRule.PARAMETER_RULE_REQUIRED_BESIDE]: '{parameter} muss zusammen mit {values} kommen.',
  [ParameterRule.PARAMETER_RULE_CLAIMS]:
    '{parameter} muss ein JSON-Objekt von Claims sein. Zeichen und Namen höchstens: {values}.',
  [ParameterRule.PARAMETER_RULE_ACR]: '{parameter} muss einen acr verlangen, der einer von diesen ist: {values}.',
  [ParameterRule.PARAMETER_RULE_SCOPE_CHARACTERS]:
    '{parameter} muss aus druckbarem ASCII bestehen, mit Leerzeichen zwischen den Scopes.',
  [ParameterRule.PARAMETER_RULE_SCOPE_ORGANIZATION]:
    '{parameter} darf höchstens eine Organisation nennen, in der Form {values}.',
  [ParameterRule.PARAMETER_RULE_SCOPE_OTHER_ORGANIZATION]:
    '{parameter} darf keine andere Organisation nennen als die Einstellungen der Anwendung.',
  [ParameterRule.PARAMETER_RULE_SCOPE_PROJECT]: '{parameter} darf kein anderes Projekt nennen als das der Anwendung.',
  [ParameterRule.PARAMETER_RULE_SCOPE_ROSTER]:
    '{parameter} darf {values} nicht enthalten: Die Anwendung darf es nicht haben, oder nicht zusammen mit einem Projekt.',
  [ParameterRule.PARAMETER_RULE_SCOPE_UNKNOWN]: '{parameter} muss einen bekannten Scope enthalten oder wegbleiben.',
  [ParameterRule.PARAMETER_RULE_SCOPE_PROVIDER]:
    '{parameter} darf höchstens einen Identitätsanbieter nennen, und zwar einen, mit dem man sich hier anmelden kann.',
  [ParameterRule.PARAMETER_RULE_ID_TOKEN]: '{parameter} muss ein ID-Token sein, das die Anwendung von hier hat.',
  [ParameterRule.PARAMETER_RULE_CLIENT]:
    '{parameter} muss eine Anwendung nennen, die es gibt und die eingeschaltet ist.',
  [ParameterRule.PARAMETER_RULE_CLIENT_OF]:
    '{parameter} muss die Anwendung nennen, für die das ID-Token in {values} ausgestellt ist.',
  [ParameterRule.PARAMETER_RULE_REGISTERED]: '{parameter} muss bei der Anwendung eingetragen sein.',
}

/** What a parameter of a request must be, by language. */
export const rules: Record<string, RuleTexts> = { en, de }
