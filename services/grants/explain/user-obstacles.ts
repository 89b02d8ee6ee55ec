import { EventEffect, type ExplainedEvent, type Obstacle, ObstacleKind } from '#gen/roster/grants/v1/permission_service'
import type { TraceUserStateResponse, UserStateEvent } from '#gen/roster/users/v1/internal_service'
import { namesOf } from '#lib/events/messages'
import { isClosed, type Organization } from '../vocabulary/organization.ts'
import type { History } from './histories.ts'
import { showEvents } from './show-events.ts'
import type { Sight } from './sight.ts'

/** What keeps a user from doing anything: its own state, and that of its organization. */
export function userObstacles(user: TraceUserStateResponse, home: History<Organization>, sight: Sight): Obstacle[] {
  const obstacles: Obstacle[] = []
  const add = (kind: ObstacleKind, taking: string, giving: string) =>
    obstacles.push({ kind, events: showStates(user, [taking, giving], sight) })
  if (!user.exists) obstacles.push({ kind: ObstacleKind.OBSTACLE_KIND_USER_UNKNOWN, events: [] })
  if (user.inactive) add(ObstacleKind.OBSTACLE_KIND_USER_INACTIVE, 'deactivated', 'reactivated')
  if (user.locked) add(ObstacleKind.OBSTACLE_KIND_USER_LOCKED, 'locked', 'unlocked')
  if (user.removed) add(ObstacleKind.OBSTACLE_KIND_USER_REMOVED, 'removed', 'restored')
  if (home.state && isClosed(home.state)) {
    const events = showEvents(home, (state) => !isClosed(state), sight)
    obstacles.push({ kind: ObstacleKind.OBSTACLE_KIND_USER_ORGANIZATION_CLOSED, events })
  }
  return obstacles
}

function showStates(
  { events, organizationId }: TraceUserStateResponse,
  types: string[],
  { asker, mayRead }: Sight,
): ExplainedEvent[] {
  const show = ({ position, type, actor, time }: UserStateEvent): ExplainedEvent => ({
    position,
    id: `users-${position}`,
    time,
    actor: actor === asker.caller.userId || mayRead(organizationId) ? actor : '',
    type: namesOf('user', type).type,
    effect: type === types[0] ? EventEffect.EVENT_EFFECT_TOOK : EventEffect.EVENT_EFFECT_GAVE,
  })
  return events.filter(({ type }) => types.includes(type)).map(show)
}
