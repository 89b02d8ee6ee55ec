import type { FeedEvent } from '#gen/console/api'
import { Forbidden, isForbidden, Problem, Quiet } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { texts } from '../texts/texts.ts'
import { sayEvent } from './say-event.ts'
import { useNames } from './use-names.ts'

const t = texts({ by: 'by', details: 'Event' }, { by: 'von', details: 'Ereignis' })

interface HistoryProps {
  events: FeedEvent[] | undefined
  query: { error: Error | null; isFetching: boolean; isPlaceholderData: boolean; refetch: () => unknown }
  permission: string
  empty: string
}

/** Events as a line of time. Behind each is the event itself. */
export function History({ events, query, permission, empty }: HistoryProps) {
  const nameOf = useNames((events ?? []).map(({ actor }) => actor))
  if (isForbidden(query.error)) return <Forbidden permission={permission} />
  return (
    <>
      {query.error && <Problem error={query.error} retry={() => query.refetch()} />}
      {events?.length === 0 && <Quiet>{empty}</Quiet>}
      <ol class="line" aria-busy={query.isPlaceholderData}>
        {events?.map((event) => (
          <li key={event.id}>
            {sayEvent(event)}
            <small>
              <Time at={event.time} />
              {event.actor && ` · ${t.by} ${nameOf(event.actor)}`}
              {event.requestId && (
                <>
                  {' · '}
                  <code>{event.requestId}</code>
                </>
              )}
            </small>
            <details>
              <summary>
                {t.details} {event.id}
              </summary>
              <pre tabIndex={0}>{JSON.stringify(event, undefined, 2)}</pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  )
}
