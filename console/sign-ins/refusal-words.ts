import { texts } from '../texts/texts.ts'

/** Why a person was not let in: the reasons of `judge`. */
const ofPerson: Record<string, string> = texts(
  {
    inactive: 'The person is locked, deactivated or removed.',
    organization: 'The organization of the person is deactivated.',
    application: 'The application is deactivated.',
    project: 'The project is deactivated, or its organization is.',
    membership: 'The application, the project or the request lets in people of other organizations alone.',
    grant: 'The project lets in only those who have a role in it, and the person has none.',
    'other-person': 'The request is for another person than the one who is signed in.',
    ended: 'The sign-in is over.',
    consent: 'The person has not let the application have what it asks for.',
  },
  {
    inactive: 'Die Person ist gesperrt, deaktiviert oder entfernt.',
    organization: 'Die Organisation der Person ist deaktiviert.',
    application: 'Die Anwendung ist deaktiviert.',
    project: 'Das Projekt ist deaktiviert, oder seine Organisation.',
    membership: 'Die Anwendung, das Projekt oder die Anfrage lässt nur Personen anderer Organisationen herein.',
    grant: 'Das Projekt lässt nur herein, wer darin eine Rolle hat, und die Person hat keine.',
    'other-person': 'Die Anfrage gilt einer anderen Person als der, die angemeldet ist.',
    ended: 'Die Anmeldung ist beendet.',
    consent: 'Die Person hat der Anwendung nicht erlaubt, was diese verlangt.',
  },
)

/** Why an application did not prove who it is: the reasons of its events. */
const ofClient: Record<string, string> = texts(
  {
    inactive: 'The application is deactivated.',
    method: 'It used another method of authentication than the one it is registered with.',
    secret: 'Its client secret is wrong, or has expired.',
    key: 'It signed with a key that is not registered.',
    signature: 'The signature of its assertion is wrong.',
    expired: 'Its assertion has expired.',
    claims: 'Its assertion has wrong claims: look at iss, sub, aud and the times.',
    replayed: 'Its assertion was used before.',
    proof: 'Its DPoP proof is missing, is for another request, or was used before.',
  },
  {
    inactive: 'Die Anwendung ist deaktiviert.',
    method: 'Sie hat eine andere Methode der Authentisierung benutzt als die, mit der sie registriert ist.',
    secret: 'Ihr Client-Secret ist falsch oder abgelaufen.',
    key: 'Sie hat mit einem Schlüssel signiert, der nicht registriert ist.',
    signature: 'Die Signatur ihrer Assertion ist falsch.',
    expired: 'Ihre Assertion ist abgelaufen.',
    claims: 'Ihre Assertion hat falsche Claims: Prüfen Sie iss, sub, aud und die Zeiten.',
    replayed: 'Ihre Assertion wurde schon einmal benutzt.',
    proof: 'Ihr DPoP-Nachweis fehlt, gilt einer anderen Anfrage oder wurde schon einmal benutzt.',
  },
)

/** Why a sign-in by an identity provider failed, and what helps. */
const ofProvider: Record<string, string> = texts(
  {
    denied:
      'The person cancelled there, or the provider does not let them use Roster: check who is assigned to Roster there.',
    'not-available': 'The provider does not answer, is deactivated, or has no button any more: test it in the console.',
    'not-believed':
      'Its answer was faulty, or came late or twice: test the provider, and check its client secret and issuer.',
    'not-fresh':
      'The application asked for a fresh sign-in (prompt=login, max_age), and the provider does not say that there was one.',
    refused: 'The person has an account that may not sign in in this way: ask Explain about the person.',
    unknown:
      'No account is connected, and the provider creates none. The person signs in to the account here and connects it, or you switch on “Create an account at the first sign-in” in the settings of the provider.',
  },
  {
    denied:
      'Die Person hat dort abgebrochen, oder der Anbieter lässt sie Roster nicht benutzen: Prüfen Sie, wem Roster dort zugewiesen ist.',
    'not-available':
      'Der Anbieter antwortet nicht, ist deaktiviert oder hat keinen Knopf mehr: Prüfen Sie ihn in der Konsole.',
    'not-believed':
      'Seine Antwort stimmte nicht, oder kam zu spät oder doppelt: Prüfen Sie ihn, und sehen Sie nach Client Secret und Issuer.',
    'not-fresh':
      'Die Anwendung hat eine frische Anmeldung verlangt (prompt=login, max_age), und der Anbieter sagt nicht, dass es eine gab.',
    refused: 'Die Person hat ein Konto, das sich so nicht anmelden darf: Fragen Sie „Erklären“ nach der Person.',
    unknown:
      'Kein Konto ist verbunden, und der Anbieter legt keines an. Die Person meldet sich mit ihrem Konto hier an und verbindet es, oder Sie schalten in den Einstellungen des Anbieters „Bei der ersten Anmeldung ein Konto anlegen“ ein.',
  },
)

export const ofCause: Partial<Record<string, Record<string, string>>> = {
  APPLICATION_REFUSAL_CAUSE_PERSON: ofPerson,
  APPLICATION_REFUSAL_CAUSE_CLIENT: ofClient,
  APPLICATION_REFUSAL_CAUSE_PROVIDER: ofProvider,
}
