import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { FactorKind } from '../events/session.ts'

/** What is known of a kind of factor without doing it. Its work is an object of `registry.ts`. */
export interface FactorFacts {
  /** Its value of `amr` (RFC 8176). */
  amr: string
  /** A first factor opens a session, and moves `auth_time`. A second one comes beside it. */
  as: readonly ('first' | 'second')[]
  /** Its name among the methods of a user. */
  method: AuthenticationMethodType
}

export const factorKinds: Record<FactorKind, FactorFacts> = {
  password: { amr: 'pwd', as: ['first'], method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSWORD },
}

/** The kinds that open a session, and that a request may ask for again. */
export const firstFactors = kindsAs('first')

function kindsAs(place: 'first' | 'second'): FactorKind[] {
  return (Object.keys(factorKinds) as FactorKind[]).filter((kind) => factorKinds[kind].as.includes(place))
}
