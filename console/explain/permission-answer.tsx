import { Link } from 'wouter-preact'
import type { GrantsExplainedEvent, GrantsGround } from '#gen/console/api'
import { useRead } from '../api/queries.ts'
import { useHere } from '../address/place.ts'
import { useNames } from '../history/use-names.ts'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Time } from '../pieces/time.tsx'
import { say, sayKind } from './say-permission.ts'
import { words } from './words.ts'

interface PermissionAnswerProps {
  userId: string
  /** A permission; or an operation, which begins with a slash. */
  asked: string
  /** Empty: now. */
  at: string
}

/** Whether somebody may do something in this organization, and by which membership or grant. */
export function PermissionAnswer({ userId, asked, at }: PermissionAnswerProps) {
  const here = useHere()
  const asOfTime = Number.isNaN(Date.parse(at)) ? '' : new Date(at).toISOString()
  const query = useRead(
    'roster.grants.v1.PermissionService/ExplainPermission',
    {
      userId,
      ...(asked.startsWith('/') ? { operation: asked } : { permission: asked }),
      ...(asOfTime && { asOfTime }),
    },
    { fresh: true },
  )
  const { data, error } = query
  const { grounds = [], obstacles = [] } = data ?? {}
  const events = [...grounds, ...obstacles].flatMap(({ events = [] }) => events)
  const nameOf = useNames([userId, ...events.map(({ actor }) => actor)])
  if (isForbidden(error)) return <Forbidden permission="org.read" />
  if (error && !data) return <Problem error={error} retry={() => void query.refetch()} />
  if (!data) return <div class="card ghost" aria-hidden="true" />
  const allowing = grounds.filter(({ allows }) => allows)
  const others = grounds.filter(({ allows }) => !allows)
  const who = here(`/people/${encodeURIComponent(userId)}`)
  return (
    <div class="card" aria-live="polite">
      <p class="answer">
        <span class={`tag ${data.allowed ? 'good' : 'bad'}`}>{data.allowed ? '✓' : '✕'}</span>{' '}
        <strong>{(data.allowed ? words.yes : words.no)(nameOf(userId), data.permission || asked)}</strong>
      </p>
      {obstacles.length > 0 && (
        <>
          <h2 class="heading">{words.obstacles}</h2>
          <ul class="line">
            {obstacles.map(({ kind, events }) => (
              <li key={kind}>
                {say(kind)} <Link href={who}>{words.mend}</Link>
                <Events events={events} nameOf={nameOf} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Held title={words.grounds} grounds={allowing} who={who} nameOf={nameOf} />
      <Held title={words.wouldAllow} grounds={others} who={who} nameOf={nameOf} />
      {data.hidden && <p class="inside">{words.hiddenGround}</p>}
      {data.incomplete && <p class="inside">{words.incomplete}</p>}
      {!data.hidden && grounds.length === 0 && <p class="inside">{words.noGround}</p>}
    </div>
  )
}

interface HeldProps {
  title: string
  grounds: GrantsGround[]
  who: string
  nameOf: (id: string) => string
}

function Held({ title, grounds, who, nameOf }: HeldProps) {
  if (grounds.length === 0) return null
  return (
    <>
      <h2 class="heading">{title}</h2>
      <ul class="line">
        {grounds.map((ground) => (
          <li key={ground.id}>
            {sayKind(ground)}
            {ground.roles && `: ${ground.roles.join(', ')}`}
            {ground.faults && <small>{ground.faults.map(say).join('; ')}</small>}
            <Events events={ground.events} nameOf={nameOf} />
            {ground.id && (
              <small>
                <Link href={`${who}/access`}>{words.mend}</Link>
              </small>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

function Events({ events = [], nameOf }: { events?: GrantsExplainedEvent[] | undefined; nameOf: HeldProps['nameOf'] }) {
  const says = { EVENT_EFFECT_GAVE: words.gave, EVENT_EFFECT_TOOK: words.took } as Record<string, string>
  return (
    <>
      {events.map(({ id, time, actor, effect = '' }) => (
        <small key={id}>
          {says[effect] ?? words.changed} <Time at={time} />
          {actor && ` ${words.by} ${nameOf(actor)}`} <code>{id}</code>
        </small>
      ))}
    </>
  )
}
