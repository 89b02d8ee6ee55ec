import { texts } from '../texts/texts.ts'

const t = texts(
  { choose: (name: string) => `Choose ${name}`, chooseAll: 'Choose all of this page' },
  { choose: (name) => `${name} wählen`, chooseAll: 'Alle dieser Seite wählen' },
)

/** Which rows of a list are chosen. They stay so on other pages. */
export interface Choice<Row> {
  chosen: ReadonlyMap<string, Row>
  set: (chosen: ReadonlyMap<string, Row>) => void
  /** How a row is called. */
  nameOf: (row: Row) => string
}

interface ChooseProps<Row> {
  choice: Choice<Row>
  keyOf: (row: Row) => string
}

/** The box of a row. */
export function Choose<Row>({ choice: { chosen, set, nameOf }, row, keyOf }: ChooseProps<Row> & { row: Row }) {
  const change = (isOn: boolean) => {
    const next = new Map(chosen)
    if (isOn) next.set(keyOf(row), row)
    else next.delete(keyOf(row))
    set(next)
  }
  return (
    <input
      type="checkbox"
      aria-label={t.choose(nameOf(row))}
      checked={chosen.has(keyOf(row))}
      onChange={(event) => change(event.currentTarget.checked)}
    />
  )
}

/** The box of all rows of the page. */
export function ChooseAll<Row>({ choice: { chosen, set }, rows, keyOf }: ChooseProps<Row> & { rows: Row[] }) {
  const areAll = rows.length > 0 && rows.every((row) => chosen.has(keyOf(row)))
  const change = () => {
    const next = new Map(chosen)
    for (const row of rows) {
      if (areAll) next.delete(keyOf(row))
      else next.set(keyOf(row), row)
    }
    set(next)
  }
  return <input type="checkbox" aria-label={t.chooseAll} checked={areAll} onChange={change} />
}
