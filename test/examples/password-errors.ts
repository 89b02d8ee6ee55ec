import {
  anonymous,
  denied,
  type ErrorCase,
  fails,
  invalid,
  manager,
  notFound,
  powerless,
  precondition,
} from './world.ts'

const newPassword = { password: 'New-Password-1' }
const wrong = 'wrong-password'
const set = (userId: string) => ({ userId, newPassword })
const change = () => ({ oldPassword: wrong, newPassword: 'New-Password-1' })
const tooCommon = { reason: 'PASSWORD_TOO_COMMON', code: 3, http: 400 }
const passwordInvalid = { reason: 'PASSWORD_INVALID', code: 3, http: 400 }

/** SetPassword and UpdateMyPassword. */
export const passwordErrors: ErrorCase[] = [
  fails('SetPassword', invalid, 'nothing is sent', ({ human: { userId } }) => ({ userId }), {
    fields: ['newPassword'],
  }),
  fails(
    'SetPassword',
    invalid,
    'the password is too short',
    ({ human: { userId } }) => ({ userId, newPassword: { password: 'short' } }),
    { fields: ['newPassword.password'] },
  ),
  ...['password', '12345678', 'Password1'].map((password) =>
    fails(
      'SetPassword',
      tooCommon,
      `the password is ${password}`,
      ({ human: { userId } }) => ({ userId, newPassword: { password } }),
      { fields: ['newPassword.password'] },
    ),
  ),
  fails('SetPassword', invalid, 'the present one is missing for the own user', (world) => set(world.roleless.userId), {
    ...powerless,
    fields: ['currentPassword'],
  }),
  fails('SetPassword', invalid, 'the same for a user with user.write', (world) => set(world.manager.userId), {
    ...manager,
    fields: ['currentPassword'],
  }),
  fails(
    'SetPassword',
    passwordInvalid,
    'the present password is wrong',
    (world) => ({ ...set(world.unverified.userId), currentPassword: wrong }),
    { fields: ['currentPassword'] },
  ),
  fails(
    'SetPassword',
    { reason: 'PASSWORD_UNCHANGED', code: 3, http: 400 },
    'the present password must change, and the new one is the same',
    ({ handed: { userId, password } }) => ({ userId, newPassword: { password }, currentPassword: password }),
    { fields: ['newPassword.password'] },
  ),
  fails(
    'SetPassword',
    invalid,
    'whoever proves the present one wants another change',
    ({ handed: { userId, password: currentPassword } }) => ({
      userId,
      newPassword: { ...newPassword, changeRequired: true },
      currentPassword,
    }),
    { fields: ['newPassword.changeRequired'] },
  ),
  fails('SetPassword', notFound('USER_NOT_FOUND'), 'the user is unknown', () => set('unknown')),
  fails('SetPassword', precondition('NOT_A_HUMAN'), 'the user is a machine', ({ machineId }) => set(machineId)),
  fails('UpdateMyPassword', invalid, 'nothing is sent', () => ({}), {
    ...powerless,
    fields: ['oldPassword', 'newPassword'],
  }),
  fails('UpdateMyPassword', passwordInvalid, 'the old password is wrong', change, {
    ...powerless,
    fields: ['oldPassword'],
  }),
  fails('UpdateMyPassword', precondition('NOT_A_HUMAN'), 'a machine calls', change),
]

const codeInvalid = { reason: 'CODE_INVALID', code: 3, http: 400 }
const code = (userId: string) => ({ userId, verificationCode: 'WRONG2', newPassword: 'New-Password-1' })
const atFault = { ...anonymous, fields: ['verificationCode'] }
const idOf = (userId: string) => ({ userId })

/** RequestPasswordReset, PasswordReset and ResetPassword. */
export const passwordResetErrors: ErrorCase[] = [
  fails('RequestPasswordReset', invalid, 'nothing is sent', () => ({}), { ...anonymous, fields: ['loginName'] }),
  fails(
    'PasswordReset',
    denied,
    'the own code is asked for',
    (world) => ({ ...idOf(world.manager.userId), returnCode: {} }),
    manager,
  ),
  fails(
    'PasswordReset',
    denied,
    'the own code is to lead elsewhere',
    (world) => ({ ...idOf(world.manager.userId), sendLink: { urlTemplate: 'https://app.example.com/{{.Code}}' } }),
    manager,
  ),
  fails(
    'PasswordReset',
    invalid,
    'the template has another variable',
    ({ human }) => ({ ...idOf(human.userId), sendLink: { urlTemplate: 'https://app.example.com/{{.Name}}' } }),
    { fields: ['sendLink.urlTemplate'] },
  ),
  fails('PasswordReset', notFound('USER_NOT_FOUND'), 'the user is unknown', () => idOf('unknown')),
  fails('PasswordReset', precondition('NOT_A_HUMAN'), 'the user is a machine', ({ machineId }) => idOf(machineId)),
  fails('PasswordReset', precondition('EMAIL_NOT_RECOVERABLE'), 'the address is not verified', ({ unverified }) =>
    idOf(unverified.userId),
  ),
  fails('ResetPassword', invalid, 'nothing is sent', () => ({ userId: 'u' }), {
    ...anonymous,
    fields: ['verificationCode', 'newPassword'],
  }),
  fails('ResetPassword', codeInvalid, 'the user is unknown', () => code('unknown'), atFault),
  fails('ResetPassword', codeInvalid, 'the user is a machine', ({ machineId }) => code(machineId), atFault),
  fails('ResetPassword', codeInvalid, 'there is no code', ({ human }) => code(human.userId), atFault),
  fails(
    'SetPassword',
    codeInvalid,
    'the code is wrong',
    ({ human: { userId } }) => ({ ...set(userId), verificationCode: 'WRONG2' }),
    { fields: ['verificationCode'] },
  ),
]
