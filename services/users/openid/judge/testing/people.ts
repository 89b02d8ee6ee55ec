import {
  SetSessionRequest as setCodec,
  UserVerificationRequirement as Verification,
} from '#gen/roster/users/v1/session_service'
import { Authenticator, type RequestOptions } from '../../../sessions/factors/passkey/testing/authenticator.ts'
import { by, call, optionsOf, origin, register, users } from '../../../sessions/factors/passkey/testing/world.ts'
import {
  addApp,
  type App,
  type Person,
  type Session,
  signIn,
} from '../../../sessions/factors/testing/second-factors.ts'
import { deleteSession } from '../../../sessions/operations/session/delete-session.ts'
import { generateRecoveryCodes } from '../../../sessions/operations/factors/generate-recovery-codes.ts'
import { addOTPEmail, removeOTPEmail } from '../../../sessions/operations/factors/otp-email.ts'
import { registerU2F } from '../../../sessions/operations/passkeys/register-u2f.ts'
import { removePasskey, removeU2F } from '../../../sessions/operations/passkeys/remove.ts'
import { verifyU2FRegistration } from '../../../sessions/operations/passkeys/verify-u2f-registration.ts'
import { removeRecoveryCodes } from '../../../sessions/operations/factors/remove-recovery-codes.ts'
import { removeTOTP } from '../../../sessions/operations/factors/remove-totp.ts'
import { setSession } from '../../../sessions/operations/session/set-session.ts'
import { listed } from './tables.ts'

/** A person's devices and printed codes. */
export interface Things {
  /** A mailed code has set the password. */
  isByMail?: true | undefined
  mail?: true | undefined
  app?: App | undefined
  codes?: string[] | undefined
  passkey?: undefined | { device: Authenticator; id: string }
  key?: undefined | { device: Authenticator; id: string }
}

export const add: Record<string, (person: Person, things: Things) => Promise<unknown>> = {
  mail: (person, things) => ((things.mail = true), addOTPEmail.handle(users, person, call())),
  app: async (person, things) => (things.app = await addApp(users, person, call())),
  codes: async ({ userId }, things) =>
    (things.codes = (await generateRecoveryCodes.handle(users, { userId }, call())).recoveryCodes),
  passkey: (person, things) =>
    justSignedIn(person, things, async (caller) => {
      const device = new Authenticator(origin)
      const { passkeyId: id } = await register(person, device, {}, caller)
      things.passkey = { device, id }
    }),
  key: (person, things) =>
    justSignedIn(person, things, async (caller) => {
      const [device, { userId }] = [new Authenticator(origin), person]
      const begun = await registerU2F.handle(users, { userId, domain: '' }, caller)
      const publicKeyCredential = device.create(optionsOf(begun), { uv: false })
      await verifyU2FRegistration.handle(
        users,
        { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' },
        caller,
      )
      things.key = { device, id: begun.u2fId }
    }),
}

// Of ten sessions, one more would end the oldest. Who stands on the mailbox alone adds no device, so an app comes first.
async function justSignedIn(
  person: Person,
  things: Things,
  work: (caller: ReturnType<typeof by>) => Promise<void>,
): Promise<void> {
  const session = await signIn(users, person)
  const helper = things.isByMail && !things.app ? await addApp(users, person, call()) : undefined
  const app = things.isByMail ? (helper ?? things.app) : undefined
  if (app) await set(session, { totpCode: await app.code(1) })
  await work(by(person, session.sessionId))
  await deleteSession.handle(users, { ...session, sessionToken: '' }, call())
  if (helper) await removeTOTP.handle(users, person, call())
}

const remove: Record<string, (person: Person, things: Things) => Promise<unknown>> = {
  mail: (person) => removeOTPEmail.handle(users, person, call()),
  app: (person) => removeTOTP.handle(users, person, call()),
  codes: (person) => removeRecoveryCodes.handle(users, person, call()),
  passkey: ({ userId }, { passkey }) => removePasskey.handle(users, { userId, passkeyId: passkey!.id }, call()),
  key: ({ userId }, { key }) => removeU2F.handle(users, { userId, u2fId: key!.id }, call()),
}

/** Gives the person what a row of the table says, and takes the rest. */
export async function give(row: string, person: Person, things: Things): Promise<void> {
  const wanted = row === 'nothing' ? [] : listed(row)
  // Recovery codes come after another factor, and go before it. Whoever adds a device needs what is there, so it comes first.
  const kinds = ['passkey', 'key', 'mail', 'app', 'codes'] as const
  const addsDevice = (['passkey', 'key'] as const).some((kind) => wanted.includes(kind) && !things[kind])
  for (const kind of kinds.toReversed())
    if (things[kind] && (addsDevice || !wanted.includes(kind))) {
      await remove[kind]!(person, things)
      things[kind] = undefined
    }
  for (const kind of kinds) if (wanted.includes(kind) && !things[kind]) await add[kind]!(person, things)
}

export async function set({ sessionId, sessionToken }: Session, given: object) {
  const request = { ...setCodec.decode(new Uint8Array()), sessionId, sessionToken, ...given }
  return { ...(await setSession.handle(users, request, call())), sessionId }
}

const { USER_VERIFICATION_REQUIREMENT_REQUIRED: required, USER_VERIFICATION_REQUIREMENT_DISCOURAGED: discouraged } =
  Verification

/** Uses a device in a session of the API. */
export async function byApi(session: Session, device: Authenticator, isSecond: boolean): Promise<Session> {
  const userVerificationRequirement = isSecond ? discouraged : required
  const { challenges } = await set(session, { webAuthN: { domain: 'localhost', userVerificationRequirement } })
  const { publicKey } = challenges!.webAuthN!.publicKeyCredentialRequestOptions as { publicKey: RequestOptions }
  return set(session, { credentialAssertionData: device.get(publicKey, { uv: !isSecond }) })
}
