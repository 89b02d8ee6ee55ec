import type { UsersSignInGround, UsersSignInReason } from '#gen/console/api'
import { language } from '../texts/texts.ts'

/** A reason in a sentence. The API says it in English. */
export function sayGround({ reason, sentence = '' }: UsersSignInGround): string {
  return (language === 'de' && reason && german[reason]) || sentence
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
}
