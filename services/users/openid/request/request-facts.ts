import type { RequestFacts } from '../judge/facts.ts'
import type { Asked } from './read-parameters.ts'
import type { Progress } from './request-row.ts'

/** What `judge` wants to know of a request. A faulty one asks for nothing. */
export function requestFacts(asked: Asked | undefined, beganAt: Date, progress: Progress): RequestFacts {
  return {
    beganAt,
    prompts: asked?.prompts ?? [],
    maxAge: asked?.maxAge,
    hintedUser: asked?.hintedUser,
    organizationScope: asked?.organizationScope,
    scopes: asked?.scopes ?? [],
    claimScopes: asked?.claimScopes ?? [],
    acr: asked?.acr,
    passedOver: progress.passedOver ?? [],
    chosen: progress.chosen === true,
    decided: progress.decision === 'allowed',
    needsClick: asked?.needsClick === true,
  }
}
