import { Link } from 'wouter-preact'
import type { UsersSignInsOfHour } from '#gen/console/api'
import { useHere } from '../address/place.ts'
import { useMay, useRead } from '../api/queries.ts'
import { Problem } from '../pieces/problem.tsx'
import { language } from '../texts/texts.ts'
import { words } from './words.ts'

const [width, height, floor] = [720, 140, 118]
const hourOf = new Intl.DateTimeFormat(language, { hour: '2-digit' })
const exactly = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
const numbers = new Intl.NumberFormat(language)

/** How many signed in, and how many failed to, in each of the last 24 hours, by the reader's clock. */
export function SignInsByHour() {
  const here = useHere()
  const mayRead = useMay('user.read')
  const query = useRead('roster.users.v1.SessionService/CountSignIns', { hours: 24 }, { enabled: mayRead === true })
  if (mayRead === false) return null
  const hours = query.data?.hours ?? []
  const sum = (of: 'signIns' | 'failures') => hours.reduce((all, hour) => all + (hour[of] ?? 0), 0)
  return (
    <div class="card">
      <div class="title">
        <h2>{words.signIns}</h2>
        {query.data && (
          <Link href={here('/sign-ins')}>
            {words.counts(numbers.format(sum('signIns')), numbers.format(sum('failures')))}
          </Link>
        )}
      </div>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      <Chart hours={hours} />
      {hours.length > 0 && <Table hours={hours} />}
    </div>
  )
}

function Chart({ hours }: { hours: UsersSignInsOfHour[] }) {
  const most = Math.max(1, ...hours.map(({ signIns = 0, failures = 0 }) => Math.max(signIns, failures)))
  // A new organization has empty hours, which look like a fault where nothing says so.
  const busy = hours.findIndex(({ signIns = 0, failures = 0 }) => signIns + failures > 0)
  const quiet = busy === -1 ? hours.length : busy
  const step = width / Math.max(hours.length, 24)
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * (floor - 10)))
  const bar = (count: number, x: number, wide: number, kind: string) => (
    <rect class={kind} x={x} y={floor - tall(count)} width={wide} height={tall(count)} rx="2" />
  )
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words.chart}>
      {quiet > 3 && (
        <text class="none" x={(quiet * step) / 2} y={floor / 2}>
          {hours[quiet] ? words.noneBefore(hourOf.format(new Date(hours[quiet].hour ?? ''))) : words.noneAtAll}
        </text>
      )}
      {quiet < hours.length && (
        <text class="most" x="5" y="2">
          {numbers.format(most)}
        </text>
      )}
      {hours.map(({ hour = '', signIns = 0, failures = 0 }, index) => (
        <g key={hour}>
          {bar(signIns, index * step + 5, step - 13, 'good')}
          {bar(failures, index * step + step - 8, 5, 'bad')}
          {index % 4 === 0 && (
            <text x={index * step + 5} y={floor + 16}>
              {hourOf.format(new Date(hour))}
            </text>
          )}
        </g>
      ))}
      <line x1="5" x2={width - 3} y1={floor + 0.5} y2={floor + 0.5} />
    </svg>
  )
}

function Table({ hours }: { hours: UsersSignInsOfHour[] }) {
  return (
    <details class="as-table">
      <summary>{words.asTable}</summary>
      <table aria-label={words.signIns}>
        <thead>
          <tr>
            <th scope="col">{words.hour}</th>
            <th scope="col">{words.signedIn}</th>
            <th scope="col">{words.failed}</th>
          </tr>
        </thead>
        <tbody>
          {hours.toReversed().map(({ hour = '', signIns = 0, failures = 0 }) => (
            <tr key={hour}>
              <td>
                <time dateTime={hour}>{exactly.format(new Date(hour))}</time>
              </td>
              <td>{numbers.format(signIns)}</td>
              <td>{numbers.format(failures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
