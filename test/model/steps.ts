import * as fc from 'fast-check'

export type Verification = 'none' | 'send' | 'template' | 'return' | 'verified' | 'unverified' | 'badTemplate'

/** The conditions of a change: the sequence that it is bound to, and whether it is sent repeatedly with a key. */
interface Conditions {
  bound: 'no' | 'current' | 'stale' | 'any'
  keyed: boolean
}

/** A command with indexes into the model instead of ids, so that it still means something after shrinking. */
export type Step = Conditions &
  (
    | { kind: 'AddHumanUser'; name: string; email: string; verification: Verification }
    | { kind: 'AddMachineUser'; name: string }
    | { kind: 'SetEmail'; user: number; email: string; verification: Verification }
    | { kind: 'VerifyEmail'; user: number; code: 'right' | 'wrong' | 'old'; wrongBefore: number }
    | { kind: 'ResendEmailCode'; user: number; verification: 'send' | 'return' }
    | { kind: 'UpdateMyProfile'; firstName: string; nickName?: string }
    | { kind: 'UpdateIDP'; idp: number; name: string; autoRegister: boolean }
    | { kind: 'AddProjectRole'; project: 'own' | 'foreign'; role: string }
    | { kind: 'AddProjectGrant'; roles: string[] }
    | { kind: 'DeactivateUser' | 'ReactivateUser' | 'LockUser' | 'UnlockUser' | 'DeleteUser'; user: number }
    | { kind: 'AddUserGrant'; user: number; project: 'own' | 'foreign'; roles: string[] }
  )

// Only a few values of each kind, so that they collide.
const user = fc.nat(3)
// Not the first user, because its token changes the own profile.
const other = fc.integer({ min: 1, max: 3 })
const name = fc.constantFrom('ada', 'Ada', 'grace', 'Ｇrace', 'robot')
const email = fc.constantFrom('one', 'two', 'three')
const role = fc.constantFrom('reader', 'writer')
const roles = fc.uniqueArray(role, { maxLength: 2 })
const project = fc.constantFrom('own' as const, 'foreign' as const)
const verification = fc.constantFrom<Verification>(
  'none',
  'send',
  'template',
  'return',
  'return',
  'verified',
  'unverified',
)
const withBad = fc.oneof(
  { arbitrary: verification, weight: 9 },
  { arbitrary: fc.constant('badTemplate' as const), weight: 1 },
)

const bound = fc.oneof(
  { arbitrary: fc.constant('no' as const), weight: 6 },
  { arbitrary: fc.constantFrom('current' as const, 'stale' as const, 'any' as const), weight: 2 },
)
const conditions = { bound, keyed: fc.boolean() }
// So many wrong codes for one user would be rare by chance, so try them on purpose.
const wrongBefore = fc.constantFrom(0, 0, 0, 4, 5)
// A creation has no earlier sequence to be bound to.
const unbound = { bound: fc.constant('no' as const), keyed: fc.boolean() }
const kind = <K extends Step['kind']>(value: K) => fc.constant(value)

/** Each kind of step, with any values. */
export const steps: fc.Arbitrary<Step>[] = [
  fc.record({ kind: kind('AddHumanUser'), name, email, verification: withBad, ...unbound }),
  fc.record({ kind: kind('AddMachineUser'), name, ...unbound }),
  fc.record({ kind: kind('SetEmail'), user, email, verification: withBad, ...conditions }),
  fc.record({
    kind: kind('VerifyEmail'),
    user,
    code: fc.constantFrom('right', 'wrong', 'old'),
    wrongBefore,
    ...unbound,
  }),
  fc.record({ kind: kind('ResendEmailCode'), user, verification: fc.constantFrom('send', 'return'), ...conditions }),
  fc.record(
    {
      kind: kind('UpdateMyProfile'),
      firstName: fc.constantFrom('Ada', 'Eve'),
      nickName: fc.constant('Countess'),
      ...conditions,
    },
    { requiredKeys: ['kind', 'firstName', 'bound', 'keyed'] },
  ),
  fc.record({ kind: kind('UpdateIDP'), idp: fc.nat(1), name, autoRegister: fc.boolean(), ...conditions }),
  fc.record({ kind: kind('AddProjectRole'), project, role, ...conditions }),
  fc.record({ kind: kind('AddProjectGrant'), roles, ...unbound }),
  ...(['DeactivateUser', 'ReactivateUser', 'LockUser', 'UnlockUser', 'DeleteUser'] as const).map((state) =>
    fc.record({ kind: kind(state), user: other, ...conditions }),
  ),
  fc.record({ kind: kind('AddUserGrant'), user, project, roles, ...unbound }),
] as fc.Arbitrary<Step>[]
