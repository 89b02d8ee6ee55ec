import { isDeepStrictEqual } from 'node:util'
import type { Decision } from '#lib/eventstore/command'
import { nameKey } from './idp-name.ts'
import type { Idp, IdpEvent, IdpSettings } from './vocabulary.ts'

/** The change of the settings that every provider has. One that is not among `settings` stays. */
export function settingsChange(
  organizationId: string,
  idp: Idp,
  settings: IdpSettings,
): Omit<Decision<IdpEvent>, 'answer'> {
  const [before, after] = [whole(idp), whole({ ...idp, ...settings })]
  if (isDeepStrictEqual(before, after)) return { events: [] }
  const [former, next] = [nameKey(organizationId, before.name), nameKey(organizationId, after.name)]
  const renamed = former.key !== next.key
  // Of most records nobody ever said these two.
  const { refusesLinking, asksFirst, ...common } = after
  const isSaid = [before, after].some((one) => one.refusesLinking || one.asksFirst)
  const payload = { ...common, ...(isSaid && { refusesLinking, asksFirst }) }
  return {
    claims: renamed ? [next] : [],
    releases: renamed ? [former] : [],
    events: [{ type: 'changed', payload }],
  }
}

function whole({ name, stylingType, autoRegister, refusesLinking = false, asksFirst = false }: IdpSettings) {
  return { name, stylingType, autoRegister, refusesLinking, asksFirst }
}
