import { texts } from '../../services/gateway/pages/login/texts/texts.ts'
import { formOf, readText, type Shown } from './sign-in.ts'

/** What a page of sign-in is, as a person reads it. */
export interface ReadPage {
  /** `answer`: the application gets one, by a redirect or from a page. `nothing known`: none of our pages. */
  kind: string
  /** What the page says is wrong. */
  problem: string | undefined
  answer: URL | undefined
  /** It has a form or a link, or says what to do instead. */
  hasWayOn: boolean
}

const en = texts['en']!
// By its heading.
const kinds = [
  ['cancelled', 'cancelled'],
  ['requestAnswered', 'answered'],
  ['requestUnknown', 'request unknown'],
  ['clientUnknown', 'client unknown'],
  ['formInvalid', 'form invalid'],
  ['leaving', 'answer'],
  ['signOut', 'sign out'],
  ['signedOut', 'signed out'],
  ['stillSignedIn', 'still signed in', 'removed'],
  ['register', 'register'],
  ['enterCode', 'enter code'],
  ['forgottenPassword', 'recovery'],
  ['recover', 'new password'],
  ['invitation', 'invitation'],
  ['confirmByCode', 'code'],
  ['signInByCode', 'mailed code'],
  ['confirmByPasskey', 'passkey'],
  ['recoverByPasskey', 'new passkey'],
  ['passkeyLink', 'passkey link'],
  ['passkeyReady', 'passkey ready'],
  ['passkeyNotAdded', 'no passkey'],
  ['noCode', 'no code'],
  ['confirmByApp', 'app code'],
  ['useRecoveryCode', 'recovery code'],
  ['setUpApp', 'set up app'],
  ['account', 'account'],
  ['removed', 'removed'],
  ['createAccountWith', 'complete account'],
  ['linkProvider', 'connect provider'],
  ['signInAgain', 'password'],
  ['chooseAccount', 'accounts'],
  ['noAccess', 'no access'],
  ['consent', 'consent'],
  ['continue', 'click'],
  ['signIn', 'sign in'],
] as const
const problems = [
  ['credentialsInvalid', 'credentials invalid'],
  ['otherPerson', 'other person'],
] as const
/** They send the person to the application, or to who runs it, and know no address of either; or all is done. */
const ends = ['request unknown', 'client unknown', 'form invalid', 'signed out', 'still signed in']

export function readPage({ location, body }: Shown): ReadPage {
  if (location !== '') return { kind: 'answer', problem: undefined, answer: new URL(location), hasWayOn: true }
  const [, heading] = /<h1>(.*?)<\/h1>/.exec(body) ?? []
  const kind = kinds.find(([key]) => en[key] === readText(heading ?? ''))?.[1] ?? 'nothing known'
  const problem = problems.find(([key]) => body.includes(en[key]))?.[1]
  const [, link] = /<main.*?<a[^>]* href="([^"]+)"/s.exec(body) ?? []
  const answer = kind === 'answer' && link !== undefined ? new URL(readText(link)) : undefined
  const hasWayOn =
    link !== undefined ||
    formOf(body) !== undefined ||
    body.includes('action="/ui/reset-password"') ||
    ends.includes(kind)
  return { kind, problem, answer, hasWayOn }
}
