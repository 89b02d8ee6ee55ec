import { texts } from '../texts/texts.ts'

/** Words about the claims of a provider. */
export const claimWords = texts(
  {
    claims: 'Claims',
    follow: 'Update the profile at each sign-in',
    followHint: 'Names, language and email address. Otherwise they are read at the first sign-in only.',
    mapping: 'Claim for each part of the profile',
    mappingHint:
      'Empty: the usual claim, shown in the field. “-”: the part is not read. “/contact/mail”: a claim inside another.',
    userName: 'User name there',
    givenName: 'Given name',
    familyName: 'Family name',
    displayName: 'Display name',
    nickName: 'Nickname',
    email: 'Email address',
    emailVerified: 'Email address verified',
    language: 'Language',
    second: 'Second factor at the provider',
    secondHint:
      'A sign-in with one of these values in its claim needs no second factor here. List only values that administrators of the provider cannot assign themselves. Empty: every sign-in counts as one factor.',
  },
  {
    claims: 'Claims',
    follow: 'Profil bei jeder Anmeldung aktualisieren',
    followHint: 'Namen, Sprache und E-Mail-Adresse. Sonst werden sie nur bei der ersten Anmeldung gelesen.',
    mapping: 'Claim für jeden Teil des Profils',
    mappingHint:
      'Leer: der übliche Claim, der im Feld steht. „-“: Der Teil wird nicht gelesen. „/contact/mail“: ein Claim in einem anderen.',
    userName: 'Benutzername dort',
    givenName: 'Vorname',
    familyName: 'Nachname',
    displayName: 'Anzeigename',
    nickName: 'Spitzname',
    email: 'E-Mail-Adresse',
    emailVerified: 'E-Mail-Adresse bestätigt',
    language: 'Sprache',
    second: 'Zweiter Faktor beim Anbieter',
    secondHint:
      'Eine Anmeldung mit einem dieser Werte in ihrem Claim braucht hier keinen zweiten Faktor. Nennen Sie nur Werte, die Administratoren des Anbieters nicht selbst vergeben können. Leer: Jede Anmeldung gilt als ein Faktor.',
  },
)
