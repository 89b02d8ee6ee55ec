import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { createStore } from '../api/store.ts'
import { common } from '../texts/common.ts'
import { AsCall } from './as-call.tsx'
import { lastWrite } from '../api/call.ts'

const notice = createStore<{ text: ComponentChildren } | undefined>(undefined)

/** Says what was done. It stays for ten seconds, and does not take the focus. */
export function say(text: ComponentChildren): void {
  notice.set({ text })
}

export function Notices() {
  const shown = notice.use()
  const sent = lastWrite.use()
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
          {sent && <AsCall sent={sent} />}
          <button class="plain" aria-label={common.close} onClick={() => notice.set(undefined)}>
            ✕
          </button>
        </div>
      )}
    </div>
  )
}
