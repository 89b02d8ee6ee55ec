import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { lastWrite } from '../api/call.ts'
import type { Sent } from '../api/sent.ts'
import { createStore } from '../api/store.ts'
import { common } from '../texts/common.ts'
import { AsCall } from './as-call.tsx'
import { sayError } from './problem.tsx'

const notice = createStore<{ text: ComponentChildren; sent?: Sent | undefined } | undefined>(undefined)

/** Says what was just written, with the call that did it. It stays for ten seconds, and does not take the focus. */
export function say(text: ComponentChildren): void {
  notice.set({ text, sent: lastWrite.get() })
}

/** Says why something was not done, where no form shows it. */
export function sayProblem(error: Error): void {
  notice.set({ text: sayError(error) })
}

export function Notices() {
  const shown = notice.use()
  useEffect(() => {
    if (!shown) return
    const timer = setTimeout(() => {
      // Somebody reads it.
      if (!document.querySelector('.notice:hover, .notice:focus-within')) notice.set(undefined)
    }, 10_000)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <div role="status" class="notices">
      {shown && (
        <div class="notice">
          <span class="grow">{shown.text}</span>
          {shown.sent && <AsCall sent={shown.sent} />}
          <button class="plain" aria-label={common.close} onClick={() => notice.set(undefined)}>
            ✕
          </button>
        </div>
      )}
    </div>
  )
}
