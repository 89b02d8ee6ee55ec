import type { IdpIDP } from '#gen/console/api'
import { clientIdOf, idToCome, kindOf, signsIn } from './kinds.ts'
import type { Listed } from './use-listed.ts'
import { words } from './words.ts'

/** Whether a provider serves. */
export function ProviderState({ provider }: { provider: IdpIDP }) {
  if (provider.state === 'IDP_STATE_INACTIVE') return <span class="tag warn">{words.inactive}</span>
  if (!signsIn(kindOf(provider))) return <span class="tag">{words.noSignIn}</span>
  if (clientIdOf(provider) === idToCome) return <span class="tag warn">{words.incomplete}</span>
  return <span class="tag good">{words.active}</span>
}

/** Whether the sign-in page has its button. */
export function OnPage({ id = '', listed }: { id: string | undefined; listed: Listed }) {
  if (listed.shown.includes(id)) return <span class="tag good">{words.shown}</span>
  if (listed.listed.includes(id)) return <span class="tag warn">{words.listedOnly}</span>
  return <span class="soft word">{words.notListed}</span>
}
