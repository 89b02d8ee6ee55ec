import type { GrantsApplicationStep, GrantsApplicationStepKind } from '#gen/console/api'
import { Time } from '../pieces/time.tsx'
import { words } from './watch-words.ts'

const kinds: [GrantsApplicationStepKind, string, string?][] = [
  ['APPLICATION_STEP_KIND_REQUEST', words.request],
  ['APPLICATION_STEP_KIND_SIGN_IN', words.signIn],
  ['APPLICATION_STEP_KIND_CONSENT', words.consent, words.ifAsked],
  ['APPLICATION_STEP_KIND_CODE_REDEEMED', words.redeemed],
  ['APPLICATION_STEP_KIND_USERINFO', words.userinfo, words.ifUsed],
  ['APPLICATION_STEP_KIND_REFRESH', words.refresh, words.ifUsed],
  ['APPLICATION_STEP_KIND_SIGN_OUT', words.signOut],
]

/** The steps of a sign-in, ticked as they have arrived. */
export function Steps({ steps }: { steps: GrantsApplicationStep[] }) {
  return (
    <ol class="ticks" aria-live="polite">
      {kinds.map(([kind, label, note]) => {
        const at = steps.find((step) => step.kind === kind)?.arrivalDate
        return (
          <li key={kind} data-done={at !== undefined}>
            <span class="tick" aria-hidden="true">
              {at && '✓'}
            </span>
            <span class="grow">
              {label}
              <span class="unseen">: {at ? words.arrived : words.notYet}</span>
            </span>
            <small>{at ? <Time at={at} /> : note}</small>
          </li>
        )
      })}
    </ol>
  )
}
