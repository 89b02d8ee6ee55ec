/** Sentences of the API about refused requests. `$1` stands for what its parentheses match. */
const sentences: [RegExp, string][] = [
  // services/users/openid/request/mistakes.ts
  [/^(.+) is none that the application has registered\.$/, '$1 ist bei der Anwendung nicht eingetragen.'],
  [/^(.+) must be one that the application has registered\.$/, '$1 muss bei der Anwendung eingetragen sein.'],
  [/^(.+) must not come more than once\.$/, '$1 darf nur einmal vorkommen.'],
  [/^(.+) must be one of (.+)\.$/, '$1 muss eines von diesen sein: $2.'],
  [/^(.+) may have the words (.+) alone\.$/, '$1 darf nur diese Wörter enthalten: $2.'],
  [/^(.+) must have no other word beside (.+)\.$/, '$1 darf neben $2 nichts enthalten.'],
  [/^(.+) must be left out: it is not supported\.$/, '$1 wird nicht unterstützt und muss wegbleiben.'],
  [/^(.+) must have at most (.+) characters\.$/, '$1 darf höchstens $2 Zeichen haben.'],
  [/^(.+) must be a whole number of seconds\.$/, '$1 muss eine ganze Zahl von Sekunden sein.'],
  [
    /^(.+) must be SHA-256 in base64url, which has 43 characters\.$/,
    '$1 muss SHA-256 in base64url sein; das sind 43 Zeichen.',
  ],
  [
    /^(.+) must be sent \(PKCE\), for the application does not prove who it is\.$/,
    '$1 muss mitkommen (PKCE), weil die Anwendung nicht nachweist, wer sie ist.',
  ],
  [
    /^(.+) must be sent \(PKCE\), or a nonce together with the scope openid\.$/,
    '$1 muss mitkommen (PKCE), oder eine nonce zusammen mit dem Scope openid.',
  ],
  [/^(.+) must be sent together with (.+)\.$/, '$1 muss zusammen mit $2 kommen.'],
  [
    /^(.+) must be a JSON object of claims, with at most (.+) characters and (.+) names\.$/,
    '$1 muss ein JSON-Objekt von Claims sein, mit höchstens $2 Zeichen und $3 Namen.',
  ],
  [/^(.+) must ask for an acr that is one of (.+)\.$/, '$1 muss einen acr verlangen, der einer von diesen ist: $2.'],
  [
    /^(.+) must be printable ASCII, with blanks between scopes\.$/,
    '$1 muss aus druckbarem ASCII bestehen, mit Leerzeichen zwischen den Scopes.',
  ],
  [
    /^(.+) must name one organization at most, spelled as (.+)\.$/,
    '$1 darf höchstens eine Organisation nennen, in der Form $2.',
  ],
  [
    /^(.+) must not name another organization than the settings of the application\.$/,
    '$1 darf keine andere Organisation nennen als die Einstellungen der Anwendung.',
  ],
  [
    /^(.+) must not name another project than that of the application\.$/,
    '$1 darf kein anderes Projekt nennen als das der Anwendung.',
  ],
  [
    /^(.+) must not have (.+), which the application may not have, or not together with a project\.$/,
    '$1 darf $2 nicht enthalten: Die Anwendung darf es nicht haben, oder nicht zusammen mit einem Projekt.',
  ],
  [
    /^(.+) must name one identity provider at most: an active one that the login policy lists\.$/,
    '$1 darf höchstens einen Identitätsanbieter nennen: einen aktiven, den die Anmelderegeln enthalten.',
  ],
  [
    /^(.+) must have a scope that is known, or be left out\.$/,
    '$1 muss einen bekannten Scope enthalten oder wegbleiben.',
  ],
  [
    /^(.+) must be an ID token that this application has from here\.$/,
    '$1 muss ein ID-Token sein, das die Anwendung von hier hat.',
  ],
  [
    /^(.+) must name a client that is there and active\.$/,
    '$1 muss eine Anwendung nennen, die es gibt und die aktiv ist.',
  ],
  [
    /^(.+) must be the client that the ID token in (.+) was issued to\.$/,
    '$1 muss die Anwendung nennen, für die das ID-Token in $2 ausgestellt ist.',
  ],
  [/^(.+) must be ([^ ]+)\.$/, '$1 muss $2 sein.'],
  // services/users/openid/authorization/refuse-grant.ts
  [/^(\w+): it is another application's\.$/, '$1: gehört einer anderen Anwendung.'],
  [
    /^(\w+): it is none that this application got, or it is long over\.$/,
    '$1: Diese Anwendung hat es nie bekommen, oder es ist lange vorbei.',
  ],
  [/^code: it is older than 60 seconds\.$/, 'code: ist älter als 60 Sekunden.'],
  [/^refresh_token: it has expired\.$/, 'refresh_token: ist abgelaufen.'],
  [
    /^code: it was used before\. All that came of it has ended\.$/,
    'code: wurde schon einmal benutzt. Alles, was daraus entstanden ist, ist beendet.',
  ],
  [
    /^refresh_token: one of this sign-in was used before, and came again,.*$/,
    'refresh_token: Eines dieser Anmeldung wurde schon benutzt und kam noch einmal; jemand anderes könnte es haben. Alles, was aus der Anmeldung entstanden ist, ist beendet.',
  ],
  [
    /^redirect_uri: it is another one than at the authorization endpoint\.$/,
    'redirect_uri: ist eine andere als am Authorization-Endpunkt.',
  ],
  [
    /^code_verifier: the code was asked for without a code_challenge, so it must not come\.$/,
    'code_verifier: Der Code wurde ohne code_challenge verlangt; er darf nicht mitkommen.',
  ],
  [/^code_verifier: it does not fit the code_challenge\.$/, 'code_verifier: passt nicht zur code_challenge.'],
  [/^code_verifier: it is missing\.$/, 'code_verifier: fehlt.'],
  [
    /^code_verifier: it must be 43 to 128 letters, digits, and characters of -\._~ \(RFC 7636\)\.$/,
    'code_verifier: muss aus 43 bis 128 Buchstaben, Ziffern und Zeichen von -._~ bestehen (RFC 7636).',
  ],
  [
    /^DPoP: the proof must be by the key that the (\w+) is bound to\.$/,
    'DPoP: Der Nachweis muss von dem Schlüssel sein, an den $1 gebunden ist.',
  ],
  [
    /^(\w+): a second factor is demanded by now\. Send the person to the authorization endpoint again\.$/,
    '$1: Inzwischen ist ein zweiter Faktor verlangt. Schicken Sie die Person noch einmal zum Authorization-Endpunkt.',
  ],
  [
    /^(\w+): its sign-in is over, since the application revoked it\.$/,
    '$1: Die Anmeldung ist beendet: Die Anwendung hat sie widerrufen.',
  ],
  [
    /^(\w+): its sign-in is over, since the session has ended\.$/,
    '$1: Die Anmeldung ist beendet: Die Sitzung ist zu Ende.',
  ],
  [
    /^(\w+): its sign-in is over, since there were too many newer ones\.$/,
    '$1: Die Anmeldung ist beendet: Es gab zu viele neuere.',
  ],
  [
    /^(\w+): its sign-in is over, since the person may not use the application any more, or could not meanwhile\.$/,
    '$1: Die Anmeldung ist beendet: Die Person darf die Anwendung nicht mehr nutzen, oder durfte es zwischendurch nicht.',
  ],
  // services/users/openid/refresh/refresh.ts
  [
    /^The application is not registered for refresh tokens: its grantTypes lack (\w+)\.$/,
    'Die Anwendung ist nicht für Refresh-Tokens registriert: In ihren grantTypes fehlt $1.',
  ],
  // services/users/openid/tokens
  [
    /^scope: it is unknown, or gives this client nothing\.$/,
    'scope: ist unbekannt, oder gibt dieser Anwendung nichts.',
  ],
  [/^The request needs a valid DPoP proof\.$/, 'Die Anfrage braucht einen gültigen DPoP-Nachweis.'],
]

/**
 * A sentence of the API about a refused request, in German. The API speaks English alone, since programs log what it says.
 * Undefined for a sentence that is not known here.
 */
export function inGerman(sentence: string): string | undefined {
  const found = sentences.find(([pattern]) => pattern.test(sentence))
  return found && sentence.replace(...found).replace(/^A parameter\b/, 'Ein Parameter')
}
