import { EventEffect, type ExplainedEvent } from '#gen/roster/grants/v1/permission_service'
import type { StoredEvent } from '#lib/events/stored-event'
import { namesOf } from '#lib/events/messages'
import type { History } from './histories.ts'
import type { Sight } from './sight.ts'

/** Events that are shown of an object, at most. */
const mostShown = 20

/**
 * Shows the events after which an object gave what was asked, and those after which it did not any more. If none did,
 * the last event alone.
 */
export function showEvents<State>(
  { steps, before: earlier }: History<State>,
  gives: (state: State) => boolean,
  sight: Sight,
): ExplainedEvent[] {
  const shown: ExplainedEvent[] = []
  let before = earlier !== undefined && gives(earlier)
  for (const { event, state } of steps) {
    const after = gives(state)
    if (after !== before)
      shown.push(show(event, sight, after ? EventEffect.EVENT_EFFECT_GAVE : EventEffect.EVENT_EFFECT_TOOK))
    before = after
  }
  const last = steps.at(-1)
  if (shown.length === 0 && last) shown.push(show(last.event, sight, EventEffect.EVENT_EFFECT_UNSPECIFIED))
  return shown.slice(-mostShown)
}

function show(event: StoredEvent, { asker, mayRead }: Sight, effect: EventEffect): ExplainedEvent {
  const { position, aggregate_type, type, creator, organization_id, created_at } = event
  return {
    position: Number(position),
    id: `grants-${position}`,
    time: created_at,
    actor: creator === asker.caller.userId || mayRead(organization_id) ? creator : '',
    type: namesOf(aggregate_type, type).type,
    effect,
  }
}
