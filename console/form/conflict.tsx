import { Time } from '../pieces/time.tsx'
import { texts } from '../texts/texts.ts'
import type { Conflict } from './merge.ts'

const t = texts(
  {
    title: 'Somebody else has changed this meanwhile. Choose for each field.',
    field: 'Field',
    opened: 'When opened',
    theirs: 'Theirs',
    yours: 'Yours',
    take: 'Take',
    empty: 'empty',
  },
  {
    title: 'Jemand anderes hat dies inzwischen geändert. Wählen Sie für jedes Feld.',
    field: 'Feld',
    opened: 'Beim Öffnen',
    theirs: 'Dort',
    yours: 'Ihres',
    take: 'Nehmen',
    empty: 'leer',
  },
)

interface ConflictProps {
  fields: Conflict[]
  by: string
  at: string
  labels: Record<string, string>
  choose: (name: string, value: string) => void
}

/** What both have changed. There is no button that overwrites all: each field is chosen. */
export function ConflictTable({ fields, by, at, labels, choose }: ConflictProps) {
  const cell = (name: string, value: string, whose: string) => (
    <td>
      {value || <span class="soft">{t.empty}</span>}{' '}
      <button type="button" aria-label={`${labels[name]}: ${t.take} ${whose}`} onClick={() => choose(name, value)}>
        {t.take}
      </button>
    </td>
  )
  return (
    <div class="conflict" role="alert">
      <p>{t.title}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.field}</th>
            <th scope="col">{t.opened}</th>
            <th scope="col">
              {t.theirs} ({by}, <Time at={at} />)
            </th>
            <th scope="col">{t.yours}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, opened, theirs, yours }) => (
            <tr key={name}>
              <th scope="row">{labels[name]}</th>
              <td>{opened || <span class="soft">{t.empty}</span>}</td>
              {cell(name, theirs, t.theirs)}
              {cell(name, yours, t.yours)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
