import type { ExplainTokenResponse } from '#gen/roster/users/v1/session_service'

/** What is known of a token, and who may know it. */
export interface TokenFacts extends Partial<Omit<ExplainTokenResponse, 'sentence'>> {
  /** Undefined: it names no user, and what is said of it everybody can tell. */
  of: { userId: string; organizationId: string; human: boolean } | undefined
}
