import type { JsonObject } from '@bufbuild/protobuf'
import { profile, unique } from './people.ts'
import {
  anonymous,
  denied,
  type ErrorCase,
  exists,
  fails,
  invalid,
  manager,
  notFound,
  owner,
  powerless,
  precondition,
  unauthenticated,
  type World,
} from './world.ts'

const email = 'new@example.com'
const machine = () => ({ userName: unique('machine'), name: 'M' })
const returned = (userId: string, address = email) => ({ userId, email: address, returnCode: {} })
const ofHuman = ({ human }: World) => returned(human.userId)
const newHuman = (address: JsonObject) => ({ userName: unique('human'), profile, email: address })

/** UpdateMyProfile. */
export const profileErrors: ErrorCase[] = [
  fails('UpdateMyProfile', invalid, 'nothing is sent', () => ({}), {
    ...powerless,
    fields: ['firstName', 'lastName', 'displayName'],
  }),
  fails('UpdateMyProfile', precondition('NOT_A_HUMAN'), 'a machine calls', () => profile),
]

/** AddMachineUser and AddHumanUser. */
export const creationErrors: ErrorCase[] = [
  fails('AddMachineUser', denied, 'the organization is foreign', machine, {
    ...owner,
    organization: ({ abroad }) => abroad,
  }),
  fails('AddMachineUser', invalid, 'nothing is sent', () => ({}), { fields: ['userName', 'name'] }),
  fails(
    'AddMachineUser',
    invalid,
    'the name ends with a blank',
    ({ machine: userName }) => ({
      ...machine(),
      userName: `${userName} `,
    }),
    { fields: ['userName'] },
  ),
  fails(
    'AddHumanUser',
    invalid,
    'the names have characters that cannot be seen',
    ({ machine: userName }) => ({
      ...newHuman({ email, isVerified: true }),
      userName: `\u00ad${userName}`,
      profile: { firstName: 'A\u2066', lastName: '\u200d' },
    }),
    { fields: ['userName', 'profile.firstName', 'profile.lastName'] },
  ),
  fails('AddMachineUser', exists('USER_NAME_TAKEN'), 'the name is taken', (world) => ({
    ...machine(),
    userName: world.machine,
  })),
  fails('AddMachineUser', exists('USER_ID_TAKEN'), 'the id is taken', ({ human: { userId } }) => ({
    ...machine(),
    userId,
  })),
  fails('AddHumanUser', exists('USER_NAME_TAKEN'), 'a machine has the name', (world) => ({
    ...newHuman({ email, isVerified: true }),
    userName: world.machine,
  })),
  fails(
    'AddHumanUser',
    { reason: 'PASSWORD_TOO_COMMON', code: 3, http: 400 },
    'the password is the name of the user',
    () => ({ ...newHuman({ email }), password: 'Lovelace1', profile: { firstName: 'Ada', lastName: 'Lovelace' } }),
    { fields: ['password'] },
  ),
  fails(
    'AddHumanUser',
    invalid,
    'profile and email are missing',
    () => ({ userName: unique('human'), password: 'short' }),
    { fields: ['profile', 'email', 'password'] },
  ),
  fails(
    'AddHumanUser',
    invalid,
    'inner fields are wrong',
    () => ({ ...newHuman({ email: 'none' }), profile: { firstName: 'A' } }),
    { fields: ['profile.lastName', 'email.email'] },
  ),
  fails('GetUser', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
  fails('ListAuthenticationMethodTypes', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({
    userId: 'unknown',
  })),
]

const idOf = (userId: string) => ({ userId })

/** Operations that change the state of a user. */
export const userStateErrors: ErrorCase[] = (
  ['DeactivateUser', 'ReactivateUser', 'LockUser', 'UnlockUser', 'DeleteUser', 'RestoreUser'] as const
).flatMap((operation) => [
  fails(operation, invalid, 'the id is too long', () => idOf('x'.repeat(201)), { fields: ['userId'] }),
  fails(operation, notFound('USER_NOT_FOUND'), 'the user is unknown', () => idOf('unknown')),
])

const forgetNow = (userId: string) => ({ userId, forgetNow: true })

/** DeleteUser that waits for nothing: no one learns or may do more by it. */
export const forgetNowErrors: ErrorCase[] = [
  fails('DeleteUser', denied, 'a foreign user is to be erased', (w) => forgetNow(w.stranger.userId), manager),
  fails('DeleteUser', denied, 'an unknown user is to be erased', () => forgetNow('unknown'), manager),
  fails('DeleteUser', denied, 'a stronger user is to be erased', (w) => forgetNow(w.owner.userId), manager),
  fails('DeleteUser', notFound('USER_NOT_FOUND'), 'there is no user to erase', () => forgetNow('unknown')),
]

/** The same operations, for users that are not in the required state. */
export const userStateRefusals: ErrorCase[] = [
  fails('ReactivateUser', precondition('USER_NOT_INACTIVE'), 'the user is active', (world) => idOf(world.machineId)),
  fails('RestoreUser', precondition('USER_NOT_REMOVED'), 'the user is not removed', (world) => idOf(world.machineId)),
  fails('UnlockUser', precondition('USER_NOT_LOCKED'), 'the user is active', (world) => idOf(world.machineId)),
]

export const setEmailErrors: ErrorCase[] = [
  fails('SetEmail', unauthenticated('TOKEN_MISSING'), 'there is no token', ofHuman, anonymous),
  fails('SetEmail', unauthenticated('TOKEN_INVALID'), 'the token is unknown', ofHuman, {
    as: () => ({ token: 'no-token-of-ours' }),
  }),
  fails('SetEmail', invalid, 'the address is none', ({ human }) => returned(human.userId, 'Ada <ada@example.com>'), {
    fields: ['email'],
  }),
  fails(
    'SetEmail',
    invalid,
    'the template has another variable',
    ({ human: { userId } }) => ({ userId, email, sendCode: { urlTemplate: 'https://app.example.com/{{.Name}}' } }),
    { fields: ['sendCode.urlTemplate'] },
  ),
  fails('SetEmail', notFound('USER_NOT_FOUND'), 'the user is unknown', () => returned('unknown')),
  fails('SetEmail', notFound('USER_NOT_FOUND'), 'the user is a machine', ({ machineId }) => returned(machineId)),
  fails('SetEmail', precondition('EMAIL_NOT_CHANGED'), 'it is the verified address', ({ human }) =>
    returned(human.userId, human.email),
  ),
]

const never = '2020-01-01T00:00:00Z'
const forMachine = ({ machineId: userId }: World) => ({ userId })
const forHuman = ({ human: { userId } }: World) => ({ userId })
const key = (publicKey: string) => (world: World) => ({ userId: world.machineId, publicKey })

/** The credentials of machines. */
export const credentialErrors: ErrorCase[] = [
  ...(['AddPersonalAccessToken', 'AddMachineKey', 'AddMachineSecret', 'GenerateMachineSecret'] as const).flatMap(
    (operation) => [
      fails(operation, notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
      fails(operation, precondition('NOT_A_MACHINE'), 'the user is a human', forHuman, owner),
      fails(
        operation,
        invalid,
        'the end is in the past',
        ({ machineId: userId }) => ({ userId, expirationDate: never }),
        { ...owner, fields: ['expirationDate'] },
      ),
    ],
  ),
  ...(['ListPersonalAccessTokens', 'ListMachineKeys', 'ListMachineSecrets'] as const).flatMap((operation) => [
    fails(operation, notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
    fails(operation, precondition('NOT_A_MACHINE'), 'the user is a human', forHuman, owner),
  ]),
  ...(
    [
      ['GetPersonalAccessToken', 'tokenId'],
      ['GetMachineKey', 'keyId'],
      ['RemovePersonalAccessToken', 'tokenId'],
      ['RemoveMachineKey', 'keyId'],
      ['RemoveMachineSecret', 'secretId'],
    ] as const
  ).flatMap(([operation, field]) => [
    fails(operation, notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown', [field]: 'x' })),
    fails(
      operation,
      notFound('CREDENTIAL_NOT_FOUND'),
      'there is none',
      (world) => ({ ...forMachine(world), [field]: 'x' }),
      owner,
    ),
    fails(
      operation,
      precondition('NOT_A_MACHINE'),
      'the user is a human',
      (world) => ({ ...forHuman(world), [field]: 'x' }),
      owner,
    ),
  ]),
  fails('RemoveMachineSecrets', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
  fails('RemoveMachineSecrets', notFound('CREDENTIAL_NOT_FOUND'), 'there is none', forMachine, owner),
  fails('RemoveMachineSecrets', precondition('NOT_A_MACHINE'), 'the user is a human', forHuman, owner),
  fails('AddMachineKey', invalid, 'what is sent is no key', key('a key'), { ...owner, fields: ['publicKey'] }),
  fails('AddMachineKey', invalid, 'the key is empty', key(''), { ...owner, fields: ['publicKey'] }),
]

const codeInvalid = { reason: 'CODE_INVALID', code: 3, http: 400 }
const code = (userId: string) => ({ userId, verificationCode: 'WRONG2' })
const atFault = { ...anonymous, fields: ['verificationCode'] }
const credentialsInvalid = unauthenticated('CREDENTIALS_INVALID')
const signIn = (loginName: string) => ({ loginName, password: 'wrong-password' })

/** VerifyEmail, ResendEmailCode and the sessions. */
export const codeAndSessionErrors: ErrorCase[] = [
  fails('VerifyEmail', codeInvalid, 'the user is unknown', () => code('unknown'), atFault),
  fails('VerifyEmail', codeInvalid, 'the code is wrong', ({ unverified }) => code(unverified.userId), atFault),
  fails('VerifyEmail', codeInvalid, 'there is no code', ({ human }) => code(human.userId), atFault),
  fails('VerifyInviteCode', codeInvalid, 'the user is unknown', () => code('unknown'), atFault),
  fails('VerifyInviteCode', codeInvalid, 'there is no invitation', ({ human }) => code(human.userId), atFault),
  fails('CreateInviteCode', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
  fails('ResendInviteCode', precondition('NOT_INVITED'), 'the user is not invited', ({ unverified: { userId } }) => ({
    userId,
  })),
  fails(
    'ResendEmailCode',
    precondition('EMAIL_ALREADY_VERIFIED'),
    'the address is verified',
    ({ human: { userId } }) => ({ userId }),
  ),
  fails('ResendEmailCode', notFound('USER_NOT_FOUND'), 'the user is a machine', ({ machineId }) => ({
    userId: machineId,
  })),
  fails('ResendMail', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown', mailId: 'x' })),
  fails('ResendMail', precondition('MAIL_NOT_RESENDABLE'), 'it is none of this user', ({ human: { userId } }) => ({
    userId,
    mailId: 'unknown',
  })),
  fails('CreateSession', credentialsInvalid, 'the user is unknown', () => signIn(unique('unknown')), anonymous),
  fails('CreateSession', credentialsInvalid, 'the password is wrong', ({ human }) => signIn(human.userName), anonymous),
  fails('DeleteSession', notFound('SESSION_NOT_FOUND'), 'the session is unknown', () => ({ sessionId: 'unknown' })),
  fails('GetSession', notFound('SESSION_NOT_FOUND'), 'the session is unknown', () => ({ sessionId: 'unknown' })),
  fails('SetSession', notFound('SESSION_NOT_FOUND'), 'the session is unknown', () => ({
    sessionId: 'unknown',
    sessionToken: 'unknown',
    password: 'unknown',
  })),
  fails('AddOTPEmail', precondition('EMAIL_NOT_VERIFIED'), 'the address is not verified', (world) => ({
    userId: world.unverified.userId,
  })),
  fails('AddOTPEmail', precondition('NOT_A_HUMAN'), 'the user is a machine', ({ machineId }) => ({
    userId: machineId,
  })),
  fails('RemoveOTPEmail', notFound('FACTOR_NOT_FOUND'), 'the user has no such factor', ({ human: { userId } }) => ({
    userId,
  })),
  fails('RemoveOTPEmail', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
  fails('RemoveTOTP', notFound('FACTOR_NOT_FOUND'), 'the user has no such factor', ({ human: { userId } }) => ({
    userId,
  })),
  fails('RemoveRecoveryCodes', notFound('FACTOR_NOT_FOUND'), 'the user has none', ({ human: { userId } }) => ({
    userId,
  })),
  fails('RegisterTOTP', notFound('USER_NOT_FOUND'), 'the user is unknown', () => ({ userId: 'unknown' })),
  fails('RegisterTOTP', precondition('NOT_A_HUMAN'), 'the user is a machine', ({ machineId }) => ({
    userId: machineId,
  })),
  fails(
    'VerifyTOTPRegistration',
    codeInvalid,
    'no secret was made',
    ({ human: { userId } }) => ({ userId, code: '123456' }),
    { fields: ['code'] },
  ),
  fails(
    'GenerateRecoveryCodes',
    precondition('FACTOR_NOT_AVAILABLE'),
    'the user has no other second factor',
    ({ human: { userId } }) => ({ userId }),
  ),
  fails(
    'SetSession',
    invalid,
    'a code and a password are sent',
    () => ({ sessionId: 'unknown', sessionToken: 'unknown', password: 'p', otpEmailCode: 'ZZZZZZ' }),
    { fields: ['otpEmailCode'] },
  ),
  fails(
    'SetSession',
    invalid,
    'the link of the mail leads elsewhere',
    () => ({
      sessionId: 'unknown',
      sessionToken: 'unknown',
      otpEmail: { sendCode: { urlTemplate: 'https://elsewhere.example/{{.Code}}' } },
    }),
    { fields: ['otpEmail.sendCode.urlTemplate'] },
  ),
  fails('CreateSession', notFound('USER_NOT_FOUND'), 'no password is sent, and the user is unknown', () => ({
    userId: 'unknown',
  })),
  fails('GetAuthRequest', notFound('AUTH_REQUEST_NOT_FOUND'), 'the request is unknown', () => ({
    authRequestId: 'unknown',
  })),
  fails('CreateCallback', notFound('AUTH_REQUEST_NOT_FOUND'), 'the request is unknown', () => ({
    authRequestId: 'unknown',
    error: { error: 'ERROR_REASON_ACCESS_DENIED' },
  })),
  fails('WithdrawConsent', notFound('CONSENT_NOT_FOUND'), 'the application was given nothing', ({ human }) => ({
    userId: human.userId,
    applicationId: 'unknown',
  })),
]
