import { sayExactly, sayTime } from '../texts/times.ts'
import { common } from '../texts/common.ts'

/** A time as people say it, with the exact one behind it. */
export function Time({ at, never = common.never }: { at: string | undefined; never?: string }) {
  if (!at) return <span class="soft word">{never}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={sayExactly(date)}>
      {sayTime(date)}
    </time>
  )
}
