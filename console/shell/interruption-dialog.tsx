import { giveUp, interruption } from '../api/interruption.ts'
import { session, signInPath } from '../api/session.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { common } from '../texts/common.ts'
import { base } from '../address/place.ts'
import { words } from './words.ts'

/** What the person has to do before the page can go on. The page behind it keeps what was typed. */
export function InterruptionDialog() {
  const shown = interruption.use()
  if (!shown) return null
  if (shown.kind === 'other')
    return (
      <Dialog firm title={words.otherTitle(shown.person?.displayName ?? '')} onClose={() => {}}>
        <p>{words.other}</p>
        <div class="actions">
          <button class="primary" onClick={() => location.assign(base)}>
            {words.reload}
          </button>
        </div>
      </Dialog>
    )
  const isStale = shown.kind === 'stale'
  const person = session.get()?.userId ?? ''
  const href = signInPath(`${base}/signed-in`, isStale ? { fresh: '1', person } : { person })
  return (
    <Dialog firm title={isStale ? words.staleTitle : words.endedTitle} onClose={() => {}}>
      <p>{isStale ? words.stale : words.ended}</p>
      <div class="actions">
        <button onClick={giveUp}>{common.cancel}</button>
        <a class="button primary" href={href} target="_blank">
          {words.signInAgain}
        </a>
      </div>
    </Dialog>
  )
}
