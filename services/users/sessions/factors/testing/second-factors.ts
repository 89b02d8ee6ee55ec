import { Secret, TOTP } from 'otpauth'
import { LoginPolicySettings as settingsCodec } from '#gen/roster/users/v1/login_policy_service'
import { readNow } from '#lib/database/database'
import { instance } from '#lib/instance'
import { addPerson } from '../../../openid/authorization/testing/visitors.ts'
import { callIn, signInBy, type TestUsers } from '../../../testing/test-users.ts'
import { registerTOTP } from '../../operations/factors/register-totp.ts'
import { setSession } from '../../operations/session/set-session.ts'
import { updateLoginPolicy } from '../../operations/settings/update-login-policy.ts'
import { verifyTOTPRegistration } from '../../operations/factors/verify-totp-registration.ts'

export type Session = { sessionId: string; sessionToken: string }
export type Person = { userId: string; userName: string; email: string }

let people = 0

/** Each at an address of its own, so that no rate limit of addresses is met. */
export const call = (): Call => ({ ...callIn('acme'), clientAddress: `2001:db8:${(people++).toString(16)}::` })

/** A call by a session of a person. */
export const by = ({ userId }: Person, { sessionId }: Session): Call => ({
  ...call(),
  caller: { ...callIn('').caller, userId, human: true, organizationId: 'acme', instanceRoles: [], sessionId },
})

type Call = ReturnType<typeof callIn>

export async function newPerson(users: TestUsers, name = 'holder'): Promise<Person> {
  const userName = `${name}-${people++}`
  return { userName, email: `${userName}@example.com`, userId: await addPerson(users, userName) }
}

export const signIn = (users: TestUsers, { userName }: Person, password = `${userName}-password`) =>
  signInBy(users, { loginName: userName, password }, call())

export const set = (
  users: TestUsers,
  { sessionId, sessionToken }: Session,
  given: { password?: string; otpEmailCode?: string; otpEmail?: object; totpCode?: string; recoveryCode?: string },
) =>
  setSession.handle(
    users,
    { sessionId, sessionToken, password: '', otpEmailCode: '', lifetime: undefined, ...given },
    call(),
  )

export const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: { reason: string }) => error.reason,
  )

export const setPolicy = (users: TestUsers, settings: object, organizationId: string = instance.id) =>
  updateLoginPolicy.handle(
    users,
    { settings: { ...settingsCodec.decode(new Uint8Array()), ...settings } },
    { ...call(), organizationId },
  )

/** An authenticator app that others wrote. */
export class App {
  readonly totp: TOTP
  readonly users: TestUsers

  constructor(users: TestUsers, secret: string) {
    this.users = users
    this.totp = new TOTP({ secret: Secret.fromBase32(secret) })
  }

  /** The code of a half minute: the present one, or one so many after it. */
  async code(after = 0): Promise<string> {
    const now = await readNow(this.users.sql)
    return this.totp.generate({ timestamp: now.getTime() + after * 30_000 })
  }

  /** One that is wrong now. */
  async wrong(): Promise<string> {
    const near = await Promise.all([-1, 0, 1, 2].map((after) => this.code(after)))
    return ['000000', '111111', '222222', '333333', '444444'].find((code) => !near.includes(code))!
  }
}

/** Sets up an app for a person. Its present code is used up; the next one counts already. */
export async function addApp(users: TestUsers, { userId }: Person, as = call()): Promise<App> {
  const { secret } = await registerTOTP.handle(users, { userId }, as)
  const app = new App(users, secret)
  await verifyTOTPRegistration.handle(users, { userId, code: await app.code() }, as)
  return app
}
