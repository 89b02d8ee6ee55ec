import { useInfiniteQuery } from '@tanstack/preact-query'
import type { FeedEvent, GrantsApplication } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { call } from '../api/call.ts'
import { History } from '../history/history.tsx'
import { words } from './words.ts'

const method = 'roster.notifier.v1.EventService/SearchOrganizationEvents'
/** One answer of the API looks at so many events of the organization at most; so many answers are read at a time. */
const most = 10

/** What happened to an application, the newest first. Events of the organization are read from its beginning on. */
export function ApplicationHistory({ application }: { application: GrantsApplication }) {
  const organization = useOrganization()
  const { id = '', details } = application
  const filter = {
    aggregateTypes: ['application'],
    aggregateIds: [id],
    ...(details?.creationDate && { since: details.creationDate }),
  }
  const query = useInfiniteQuery({
    queryKey: [organization, method, filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readOn(pageParam, filter, organization, signal),
    getNextPageParam: ({ cursor, isEnd }) => (isEnd ? undefined : cursor),
  })
  const events = query.data?.pages.flatMap((page) => page.events).toReversed()
  return (
    <div class="card">
      {query.hasNextPage && (
        <div class="title">
          <small>{words.moreLater}</small>
          <button disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
            {words.readOn}
          </button>
        </div>
      )}
      <History
        events={events}
        query={{
          error: query.error,
          isFetching: query.isFetching,
          isPlaceholderData: false,
          refetch: () => query.refetch(),
        }}
        permission="event.read"
        empty={words.noHistory}
      />
    </div>
  )
}

type Filter = { aggregateTypes: string[]; aggregateIds: string[]; since?: string }

async function readOn(cursor: string, filter: Filter, organization: string, signal: AbortSignal) {
  const events: FeedEvent[] = []
  for (let times = 0; times < most; times += 1) {
    const answer = await call(method, { cursor, filter, limit: 1000 }, { organization, signal })
    events.push(...(answer.events ?? []))
    cursor = answer.cursor ?? ''
    if (answer.endReached) return { events, cursor, isEnd: true }
  }
  return { events, cursor, isEnd: false }
}
