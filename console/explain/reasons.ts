import type {
  UsersSignInFactor,
  UsersSignInFactorState,
  UsersSignInGround,
  UsersSignInProvider,
  UsersSignInProviderState,
  UsersSignInReason,
} from '#gen/console/api'
import { language } from '../texts/texts.ts'

/** A reason in a sentence. The API says it in English. */
export function sayGround({ reason, sentence = '' }: UsersSignInGround): string {
  return (language === 'de' && reason && german[reason]) || sentence
}

/** What the state of a factor says. The API says it in English. */
export function sayFactorState({ state, sentence = '' }: UsersSignInFactor): string {
  return (language === 'de' && state && germanStates[state]) || sentence
}

/** What a provider is to the person. The API says it in English. */
export function sayProviderState({ state, sentence = '' }: UsersSignInProvider): string {
  return (language === 'de' && state && germanProviders[state]) || sentence
}

const germanProviders: Partial<Record<UsersSignInProviderState, string>> = {
  SIGN_IN_PROVIDER_STATE_READY: 'Die Person ist mit ihm verbunden, und die Seite hat seinen Knopf.',
  SIGN_IN_PROVIDER_STATE_NOT_LINKED:
    'Die Seite hat seinen Knopf, und die Person ist nicht mit ihm verbunden. Wer mit ihm kommt und sich dann hier anmeldet, wird gefragt, ob beides verbunden werden soll.',
  SIGN_IN_PROVIDER_STATE_NOT_LISTED:
    'Die Person ist mit ihm verbunden, und die Anmelderegeln nennen ihn nicht, also hat keine Seite seinen Knopf. Auf seiner Seite lässt er sich zeigen.',
  SIGN_IN_PROVIDER_STATE_INACTIVE: 'Er ist deaktiviert, also hat keine Seite seinen Knopf. Aktivieren hilft.',
  SIGN_IN_PROVIDER_STATE_NOT_THERE:
    'Weder die Organisation der Person noch die Instanz hat ihn: Er wurde entfernt, oder eine andere Organisation hat ihn.',
  SIGN_IN_PROVIDER_STATE_NO_SIGN_IN: 'Mit seinem Protokoll meldet Roster noch niemanden an.',
  SIGN_IN_PROVIDER_STATE_ROLE_ON_INSTANCE:
    'Die Person hat eine Rolle auf der Instanz, also weist sie kein Anbieter einer Organisation aus. Einer der Instanz tut es.',
  SIGN_IN_PROVIDER_STATE_CONNECTS:
    'Die Person ist nicht mit ihm verbunden. Die Organisation vertraut ihm für die Adresse, also verbindet die nächste Anmeldung dort das Konto.',
  SIGN_IN_PROVIDER_STATE_CONNECTED_BY_ADDRESS:
    'Nur die Adresse hat die Person mit ihm verbunden, und das zählt für niemanden mit einer Rolle. Nach dem Trennen verbindet sie ihn selbst.',
  SIGN_IN_PROVIDER_STATE_CANNOT_CONNECT:
    'Die Seite hat seinen Knopf. Die Person ist nicht mit ihm verbunden und hat nichts anderes, womit sie sich anmelden und ihn verbinden könnte. Die nächste Anmeldung dort tut es, sobald ihm für die bewiesene Domain der Adresse vertraut wird.',
}

const germanStates: Partial<Record<UsersSignInFactorState, string>> = {
  SIGN_IN_FACTOR_STATE_READY: 'Die Person kann ihn vorweisen.',
  SIGN_IN_FACTOR_STATE_SET_UP_IN_SIGN_IN:
    'Die Person hat noch keinen und richtet ihn bei der Anmeldung ein, nach dem Passwort.',
  SIGN_IN_FACTOR_STATE_NOT_SET_UP: 'Die Person hat ihn nicht eingerichtet.',
  SIGN_IN_FACTOR_STATE_REMOVED: 'Die Person hatte ihn, und er wurde entfernt.',
  SIGN_IN_FACTOR_STATE_NOT_ALLOWED: 'Die Person hat ihn, aber die Richtlinie lässt ihn nicht zu.',
  SIGN_IN_FACTOR_STATE_OTHER_DOMAIN:
    'Die Passkeys der Person wurden für eine andere Domain gemacht als die jetzige PASSKEY_RP_ID. Sie braucht einen neuen.',
  SIGN_IN_FACTOR_STATE_ADDRESS_NOT_VERIFIED:
    'Die Adresse der Person ist nicht bestätigt, also gilt kein Code, der dorthin geht.',
  SIGN_IN_FACTOR_STATE_PASSWORD_BY_MAIL:
    'Das Passwort wurde mit einem Code aus einer Mail gesetzt, also ist ein weiterer solcher Code kein zweiter Faktor. Ein anderes Passwort hilft.',
  SIGN_IN_FACTOR_STATE_LOCKED:
    'Seit dem letzten richtigen gab es 100 falsche Codes. Ein anderer Faktor oder Entsperren hilft.',
  SIGN_IN_FACTOR_STATE_THROTTLED:
    'Es gab zuletzt zu viele Versuche. Die Person wartet oder nimmt einen anderen Faktor.',
  SIGN_IN_FACTOR_STATE_MAILS_THROTTLED:
    'Es gab zuletzt zu viele Mails an die Adresse oder von der Organisation. Ein Code, der schon kam, gilt noch.',
  SIGN_IN_FACTOR_STATE_LOCKED_IN_BROWSERS:
    'In einem Browser, der ihn schon kannte, gab es 100 falsche Codes. Anderswo gilt er. Entsperren hilft.',
}

const german: Partial<Record<UsersSignInReason, string>> = {
  SIGN_IN_REASON_PERSON: 'Die Person muss sich anmelden.',
  SIGN_IN_REASON_ACCOUNT: 'Die Anwendung lässt ein Konto wählen.',
  SIGN_IN_REASON_CLICK: 'Die Antwort geht an ein Programm, das jedem gehören kann: Es braucht einen Klick.',
  SIGN_IN_REASON_FACTOR:
    'Die Richtlinie oder ein zweiter Faktor der Person verlangt einen Faktor, der nicht geprüft ist.',
  SIGN_IN_REASON_FRESH_FACTOR: 'Die Anwendung verlangt das Passwort noch einmal.',
  SIGN_IN_REASON_CONTEXT:
    'Die Anwendung verlangt einen weiteren Faktor oder einen Passkey, der die Person prüft (acr).',
  SIGN_IN_REASON_CONTEXT_UNMET:
    'Die Anwendung nimmt niemanden ohne weiteren Faktor oder Passkey, den die Person nicht hat (acr).',
  SIGN_IN_REASON_CONSENT: 'Die Person muss der Anwendung zustimmen.',
  SIGN_IN_REASON_USER_LOCKED: 'Die Person ist gesperrt.',
  SIGN_IN_REASON_USER_INACTIVE: 'Die Person ist deaktiviert.',
  SIGN_IN_REASON_ORGANIZATION_CLOSED: 'Die Organisation der Person ist deaktiviert oder entfernt.',
  SIGN_IN_REASON_APPLICATION_CLOSED:
    'Es gibt keine solche Anwendung, oder sie oder ihr Projekt ist deaktiviert oder entfernt.',
  SIGN_IN_REASON_PROJECT_ORGANIZATION_CLOSED: 'Die Organisation des Projekts ist deaktiviert oder entfernt.',
  SIGN_IN_REASON_OTHER_ORGANIZATION: 'Die Anwendung verlangt Personen einer anderen Organisation.',
  SIGN_IN_REASON_PROJECT_CHECK:
    'Das Projekt lässt nur Personen seiner Organisation ein, von Organisationen, denen es gewährt ist, oder mit einer Rolle.',
  SIGN_IN_REASON_ROLE_CHECK: 'Das Projekt lässt nur Personen mit einer Rolle ein.',
  SIGN_IN_REASON_NOT_ADMITTED: 'Die Organisation der Anwendung lässt die Person nicht ein.',
  SIGN_IN_REASON_OTHER_PERSON: 'Die Anwendung verlangt eine andere Person.',
  SIGN_IN_REASON_SCOPES: 'Diese Scopes darf die Anwendung nicht verlangen.',
  SIGN_IN_REASON_NO_PASSWORD: 'Die Person hat kein Passwort.',
  SIGN_IN_REASON_ADDRESS_NOT_VERIFIED: 'Die Adresse der Person ist nicht bestätigt.',
  SIGN_IN_REASON_ADDRESS_NOT_TRUSTED:
    'Die Adresse wurde erst kürzlich geändert, also geht noch kein Code dorthin. Ein Passkey hilft, oder jemand, der sie bestätigt.',
  SIGN_IN_REASON_PASSWORD_BY_MAIL:
    'Das Passwort wurde mit einem Code aus einer Mail gesetzt, also ist ein weiterer solcher Code kein zweiter Faktor.',
  SIGN_IN_REASON_THROTTLED: 'Es gab zu viele falsche Passwörter. Von dort, woher sie kamen, muss die Person warten.',
  SIGN_IN_REASON_FACTOR_THROTTLED: 'Es gab zu viele Codes der Person, oder Mails damit.',
  SIGN_IN_REASON_NAME_OF_ANOTHER: 'Bei dieser Anwendung meint der Name jemand anderen oder niemanden.',
  SIGN_IN_REASON_FACTOR_LOCKED: 'Es gab zu viele falsche Codes. Entsperren hilft.',
  SIGN_IN_REASON_PASSKEY_OTHER_DOMAIN: 'Die Passkeys der Person sind für eine andere Domain.',
  SIGN_IN_REASON_PROVIDER:
    'Die Person meldet sich nur mit einem Identitätsanbieter an, und keiner, mit dem sie verbunden ist, dient ihr hier.',
}
