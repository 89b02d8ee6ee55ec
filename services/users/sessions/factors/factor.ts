import type { Use } from '#lib/eventstore/command'
import type { Guard } from '#lib/eventstore/command'
import type { Write } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import type { User } from '../../directory/events/user.ts'
import type { UniqueKey } from '#lib/eventstore/command'
import type { RosterError } from '#lib/errors'
import type { CheckOfFactor, FactorKind } from '../events/session.ts'
import type { AskedAssertion } from './binding.ts'

/** The work of a kind of factor. */
export interface Factor {
  /**
   * Checks what a person gave, and counts the try, before anything depends on it. Throws the error of the caller where it
   * is wrong, or where there were too many.
   */
  check(context: Context, given: Given, call: Call): Promise<ProvedFactor>
  /** Of a second factor, what a user's next code uses up: its mail, and the try. */
  uses?(context: Context, user: LoginUser): Use[]
}

/** What a person gave to prove a factor. */
export interface Given {
  /** The name that the try counts for, and the user whom it means. */
  loginName: string
  find?: (() => Promise<LoginUser | undefined>) | undefined
  /** As it was typed. */
  text: string
  /** Of a second factor: what it comes to. */
  session?: FactorTarget | undefined
  /** Of a passkey: what was asked for. */
  asked?: AskedAssertion
  /** The id of a code that signs in by itself, as it was asked for where it is entered. */
  code?: string | undefined
}

/** A session and its browser; or, where there is none, the code for a forgotten password that was right there. */
export interface FactorTarget {
  id: string
  browserId: string | undefined
  passwordCodeId?: string | undefined
}

/** A factor that was right a moment ago. */
export interface ProvedFactor {
  kind: FactorKind
  /** Of a passkey, or an identity provider. */
  check?: CheckOfFactor
  user: LoginUser
  /** Whether it still holds where it is recorded. */
  holds(user: User | undefined): boolean
  /** What is used up with it. */
  writes: Write[]
  guards: Guard[]
  uses: Use[]
  /** What is stored with the session that it comes to. */
  writesOf?: (session: { sessionId: string; userId: string }) => Write[]
  claims?: (UniqueKey & { taken: RosterError })[]
  /** Once it is recorded. A failure is logged alone. */
  settle?(): Promise<void>
}
