import { expect, test } from 'vitest'
import type { Human } from '../../directory/events/human.ts'
import { leavesEnough } from './last-factor.ts'
import { defaultPolicy, type PersonPolicy } from '../login-policy/login-policy.ts'

const demanding: PersonPolicy = { ...defaultPolicy, forceMfa: true, allowPasskeys: true, passkeyRpId: 'x' }
const human = (more: Partial<Human>) => ({ isVerified: true, ...more }) as Human
const passkeys = [{ id: 'x', rpId: 'x' }] as Human['passkeys']
const app = human({ secondFactors: ['totp', 'recovery-code'] })
const none = human({})
const mail = human({ secondFactors: ['otp-email'] })
const byMail = human({ passwordByMail: true })
const [person, other, linking] = [
  { isOwn: true, isLinked: true },
  { isOwn: false, isLinked: false },
  { isOwn: false, isLinked: true },
]

test.each<[string, PersonPolicy, typeof person, Human, Human, boolean]>([
  ['an administrator takes none that is the last', demanding, other, app, none, false],
  ['nor one beside which only a mailbox is left', demanding, other, app, mail, false],
  [
    'nor one beside which only recovery codes are left',
    demanding,
    other,
    app,
    human({ secondFactors: ['recovery-code'] }),
    false,
  ],
  ['but with a link for a new one', demanding, linking, app, none, true],
  ['one of two', demanding, other, human({ secondFactors: ['totp'], passkeys: passkeys! }), app, true],
  [
    'not the app, where the passkey that is left does not serve',
    { ...demanding, allowPasskeys: false },
    other,
    human({ secondFactors: ['totp'], passkeys: passkeys! }),
    human({ passkeys: passkeys! }),
    false,
  ],
  [
    'not the app, where the passkey that is left is of another domain',
    { ...demanding, passkeyRpId: 'y' },
    other,
    human({ secondFactors: ['totp'], passkeys: passkeys! }),
    human({ passkeys: passkeys! }),
    false,
  ],
  ['not the last passkey', demanding, other, human({ passkeys: passkeys! }), none, false],
  ['a mailed code, which is no strong one', demanding, other, mail, none, true],
  ['any, where nothing is demanded', { ...demanding, forceMfa: false }, other, app, none, true],
  ['one that does not serve', { ...demanding, secondFactors: ['otp-email'] }, other, app, none, true],
  ['the person takes what the next sign-in asks for anew', demanding, person, app, none, true],
  ['but not the way in, of who could set none up', demanding, person, { ...app, ...byMail }, byMail, false],
])('%s', (_, policy, by, before, after, isLeft) => {
  const decide = () => leavesEnough(policy, by)(before, after)
  if (isLeft) expect(decide).not.toThrow()
  else expect(decide).toThrow(expect.objectContaining({ reason: 'LAST_FACTOR' }))
})
