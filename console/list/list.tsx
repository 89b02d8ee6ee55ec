import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { common } from '../texts/common.ts'
import { sayToTheSecond } from '../texts/times.ts'
import { Forbidden, isForbidden, Problem, Quiet } from '../pieces/problem.tsx'
import { type Choice, Choose, ChooseAll } from './choose.tsx'
import { Pager } from './pager.tsx'

export interface Column<Row> {
  label: string
  cell: (row: Row) => ComponentChildren
  /** Not on a narrow screen: then the first column has it, below the name. */
  wide?: boolean
}

interface ListProps<Row> {
  /** What the list holds, for those who hear it. */
  label: string
  columns: Column<Row>[]
  rows: Row[] | undefined
  keyOf: (row: Row) => string
  /** Where a row leads. The whole row opens it. */
  hrefOf?: (row: Row) => string
  query: { error: Error | null; isFetching: boolean; isPlaceholderData: boolean; refetch: () => unknown }
  /** When the rows were read, in a list that reads again by itself. */
  readAt?: number
  /** The permission that the list needs. */
  permission: string
  /** In place of rows where there is none at all. */
  empty: ComponentChildren
  /** Set where filters are: how to clear them. */
  clear?: (() => void) | undefined
  pages?: { next: string; after: string; go: (after: string) => void }
  /** Set where rows can be chosen: the keys of those that are, and what changes them. */
  choice?: Choice<Row> | undefined
}

/** A list in all its states: not there yet, old while the new one comes, empty, nothing matches, refused, forbidden. */
export function List<Row>(props: ListProps<Row>) {
  const { label, columns, query, permission, empty, clear, pages, choice, keyOf } = props
  // An error takes away the answer, and leaves what was shown.
  const last = useRef(props.rows)
  if (props.rows) last.current = props.rows
  const rows = props.rows ?? (query.error ? last.current : undefined)
  if (isForbidden(query.error)) return <Forbidden permission={permission} />
  const width = columns.length + (choice ? 1 : 0)
  const isOld = (query.isPlaceholderData && query.isFetching) || (query.error !== null && rows !== undefined)
  return (
    <>
      {query.error && <Problem error={query.error} retry={() => query.refetch()} />}
      {rows?.length === 0 && !isOld && (clear ? <NoMatch clear={clear} /> : <Quiet>{empty}</Quiet>)}
      {(rows === undefined || rows.length > 0) && !(rows === undefined && query.error) && (
        <table aria-label={label} aria-busy={query.isFetching && (isOld || rows === undefined)} data-old={isOld}>
          <thead key={rows ? 'rows' : 'skeleton'}>
            <tr>
              {rows && choice && (
                <th scope="col" class="choice">
                  <ChooseAll choice={choice} rows={rows ?? []} keyOf={keyOf} />
                </th>
              )}
              {rows ? (
                columns.map(({ label, wide }) => (
                  <th scope="col" class={wide ? 'wide' : undefined}>
                    {label}
                  </th>
                ))
              ) : (
                // Labels would move as soon as there are rows.
                <th colSpan={width}>&nbsp;</th>
              )}
            </tr>
          </thead>
          {rows ? <Rows {...props} rows={rows} /> : <Skeleton columns={width} />}
        </table>
      )}
      {props.readAt && rows && <p class="as-of">{common.asOf(sayToTheSecond(new Date(props.readAt)))}</p>}
      {pages && rows && (rows.length > 0 || pages.after !== '') && <Pager {...pages} />}
    </>
  )
}

function Rows<Row>({ columns, rows, keyOf, hrefOf, choice }: ListProps<Row> & { rows: Row[] }) {
  return (
    <tbody>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {choice && (
            <td class="choice">
              <Choose choice={choice} row={row} keyOf={keyOf} />
            </td>
          )}
          {columns.map(({ cell, wide }, index) => (
            <td class={wide ? 'wide' : undefined}>
              {index === 0 && hrefOf ? (
                <Link class="opens" data-row href={hrefOf(row)}>
                  {cell(row)}
                </Link>
              ) : (
                cell(row)
              )}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  )
}

/** As high as the rows that come, and seen only where they take their time. */
function Skeleton({ columns }: { columns: number }) {
  return (
    <tbody class="skeleton" aria-hidden="true">
      {Array.from({ length: 8 }, () => (
        <tr>
          <td colSpan={columns}>
            <span class="bone" />
          </td>
        </tr>
      ))}
    </tbody>
  )
}

function NoMatch({ clear }: { clear: () => void }) {
  return <Quiet action={<button onClick={clear}>{common.clearFilters}</button>}>{common.nothingMatches}</Quiet>
}
