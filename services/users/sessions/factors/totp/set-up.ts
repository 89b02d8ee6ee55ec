import { randomUUID } from 'node:crypto'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { orUnavailable, readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { newCode } from '../../../directory/email/code.ts'
import { issuerOf } from '../../../directory/issuer.ts'
import type { Human } from '../../../directory/events/human.ts'
import { knownName, type User, type UserEvent, userKey } from '../../../directory/events/user.ts'
import { userNotFound } from '../../../directory/events/user-not-found.ts'
import { type Binding, countTry, findCode, keepCode, usingUpCode } from '../../../directory/secrets/one-time-codes.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { changeFactors, humanOf } from '../change.ts'
import type { ProvedFactor } from '../factor.ts'
import { codeInvalid, withoutGuesses } from '../guesses.ts'
import { hasFactor } from '../kinds.ts'
import { newSecret, stepOf, toBase32, uriOf } from './codes.ts'
import { keepingTotpSecret } from './secrets.ts'

const setup = 'totp-setup'
const kind = 'totp'
/** Seconds. */
const lifetime = 900

/** A secret that no code has confirmed yet. */
export interface NewTotp {
  /** For a QR code. */
  uri: string
  text: string
}

/** Whether this user may add an app. Throws where not. */
export type MayAdd = (human: Human) => void

/**
 * Makes a secret for an authenticator app. Who it is bound to alone can confirm it, and sees it again: else somebody who
 * knows the password would read the secret that the person is about to confirm. The next one takes its place. ALREADY_EXISTS
 * FACTOR_EXISTS; FAILED_PRECONDITION NOT_A_HUMAN; NOT_FOUND USER_NOT_FOUND.
 */
export async function beginTotp(
  context: Context,
  binding: Binding,
  mayAdd: MayAdd,
  call: Pick<Call, 'caller' | 'requestId' | 'deadline'>,
): Promise<NewTotp & { details: ObjectDetails }> {
  const { keys, store } = context
  const [codeId, secret] = [randomUUID(), newSecret()]
  return store.execute({
    aggregate: userKey(binding.userId),
    call,
    decide({ state }: Aggregate<User>, now): Decision<UserEvent, NewTotp> {
      const human = humanOf(state)
      if (hasFactor(human, kind)) throw factorExists()
      mayAdd(human)
      const detail = { secret: secret.toString('base64') }
      return {
        events: [],
        commits: true,
        writes: [keepCode(keys, setup, { ...binding, code: newCode(codeId, keys, lifetime, now), detail })],
        answer: shown(context, state!, secret),
      }
    },
    respond: ({ after, answer }) => ({ ...answer, details: details(after) }),
  })
}

/** The secret that was made last and can still be confirmed. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findNewTotp(context: Context, binding: Binding, user: User): Promise<NewTotp | undefined> {
  const found = await findCode(context, setup, binding)
  return found && shown(context, user, Buffer.from(found.detail['secret']!, 'base64'))
}

/**
 * Adds the app that a code proves. The code is used up. INVALID_ARGUMENT CODE_INVALID, of this field; the errors of
 * `beginTotp`.
 */
export async function confirmTotp(
  context: Context,
  { binding, typed, field }: { binding: Binding; typed: string; field: string },
  mayAdd: MayAdd,
  call: Pick<Call, 'caller' | 'requestId' | 'deadline'>,
): Promise<{ details: ObjectDetails }> {
  const { userId } = binding
  const found = await countTry(context, setup, binding)
  const secret = found && Buffer.from(found.detail['secret']!, 'base64')
  const step = secret && stepOf(secret, typed, await orUnavailable(readNow(context.sql)))
  if (step === undefined) throw codeInvalid(field)
  const { write, guard } = usingUpCode(found!, codeInvalid(field))
  const keeping = await keepingTotpSecret(context, { userId, secret: secret!, step })
  if (!keeping) throw userNotFound()
  return changeFactors(
    context,
    {
      userId,
      told: 'factor-added',
      decide(human) {
        if (hasFactor(human, kind)) throw factorExists()
        mayAdd(human)
        return {
          events: [{ type: 'factor.added', payload: { kind } }],
          writes: [write, keeping, withoutGuesses(userId, kind)],
          guards: [guard],
        }
      },
    },
    call,
  )
}

/** The app that was confirmed a moment ago: its code proves it to the session, too. UNAVAILABLE STORE_UNAVAILABLE. */
export async function provedTotp(context: Context, userId: string): Promise<ProvedFactor> {
  const user = await findUserById(context, userId)
  if (!user) throw userNotFound()
  return { kind, user, holds: (now) => hasFactor(now?.human, kind), writes: [], guards: [], uses: [] }
}

function shown({ config }: Context, user: User, secret: Buffer): NewTotp {
  const issuer = new URL(issuerOf(config)).hostname
  return { uri: uriOf(secret, { issuer, account: knownName(user) }), text: toBase32(secret) }
}

function factorExists(): RosterError {
  return new RosterError('ALREADY_EXISTS', 'FACTOR_EXISTS', 'The user has this factor already.')
}
