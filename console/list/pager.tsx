import { common } from '../texts/common.ts'

interface PagerProps {
  /** The cursor of the next page; empty after the last one. */
  next: string
  /** The cursor of this page; empty on the first one. */
  after: string
  go: (after: string) => void
}

/** Next and Previous, where there is more than a page. A cursor knows no page before it, so Previous goes back the way that led here. */
export function Pager({ next, after, go }: PagerProps) {
  if (next === '' && after === '') return null
  const cameByNext = (history.state as { paged?: boolean } | null)?.paged === true
  return (
    <div class="pager">
      <small>{common.pageSize}</small>
      <span class="grow" />
      {after !== '' && !cameByNext ? (
        <button onClick={() => go('')}>{common.firstPage}</button>
      ) : (
        <button disabled={after === ''} onClick={() => history.back()}>
          {common.previous}
        </button>
      )}
      <button disabled={next === ''} onClick={() => go(next)}>
        {common.next}
      </button>
    </div>
  )
}
