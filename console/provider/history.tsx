import { useQuery } from '@tanstack/preact-query'
import type { FeedEvent, IdpIDP } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { call } from '../api/call.ts'
import { History } from '../history/history.tsx'
import { type Place, useMayThere, usePlace } from '../providers/place.ts'
import { words } from './words.ts'

// Each answer looks through events of others, too.
const mostAnswers = 20

/** What happened to a provider, the newest first. */
export function ProviderHistory({ provider: { id = '', details } }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const may = useMayThere('events')
  const query = useQuery({
    queryKey: [organization, 'history', id, details?.sequence],
    queryFn: () => readEvents(place, organization, id),
    enabled: may === true,
  })
  return (
    <div class="card">
      <History events={query.data} query={query} permission={place.permissions.events} empty={words.noHistory} />
    </div>
  )
}

async function readEvents(place: Place, organization: string, idpId: string): Promise<FeedEvent[]> {
  const filter = { aggregateTypes: ['idp'], aggregateIds: [idpId] }
  const found: FeedEvent[] = []
  let cursor = ''
  for (let answers = 0; answers < mostAnswers; answers += 1) {
    const answer = await call(place.events, { filter, cursor, limit: 1000 }, { organization })
    found.push(...(answer.events ?? []))
    cursor = answer.cursor ?? ''
    if (answer.endReached) break
  }
  return found.toReversed()
}
