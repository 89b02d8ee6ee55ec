import { texts } from '../texts/texts.ts'

/** Words about the claims of a provider. */
export const claimWords = texts(
  {
    claims: 'What it says of people',
    follow: 'Names, language and address follow at each sign-in',
    followHint: 'Otherwise they are taken over at the first one alone.',
    mapping: 'Claims',
    mappingHint:
      'The claim for each part. Empty: that of OpenID Connect. - reads none. /contact/mail is one inside another.',
    userName: 'What the person is called there',
    givenName: 'Given name',
    familyName: 'Family name',
    displayName: 'Display name',
    nickName: 'Nickname',
    email: 'Email address',
    emailVerified: 'The address is verified',
    language: 'Language',
    second: 'What counts as two factors',
    secondHint:
      'A sign-in there that says one of these values needs no second factor here. List only what its administrators cannot give away. Empty: it is one factor.',
  },
  {
    claims: 'Was er über Personen sagt',
    follow: 'Namen, Sprache und Adresse folgen bei jeder Anmeldung',
    followHint: 'Sonst werden sie nur bei der ersten übernommen.',
    mapping: 'Claims',
    mappingHint:
      'Der Claim für jeden Teil. Leer: der von OpenID Connect. - liest keinen. /contact/mail liegt in einem anderen.',
    userName: 'Wie die Person dort heißt',
    givenName: 'Vorname',
    familyName: 'Nachname',
    displayName: 'Anzeigename',
    nickName: 'Spitzname',
    email: 'E-Mail-Adresse',
    emailVerified: 'Die Adresse ist bestätigt',
    language: 'Sprache',
    second: 'Was als zwei Faktoren gilt',
    secondHint:
      'Sagt eine Anmeldung dort einen dieser Werte, braucht sie hier keinen zweiten Faktor. Nennen Sie nur, was seine Administratoren nicht verschenken können. Leer: sie ist ein Faktor.',
  },
)
