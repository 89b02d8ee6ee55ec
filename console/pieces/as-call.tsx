import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import type { Sent } from '../api/sent.ts'
import { common } from '../texts/common.ts'
import { CopyButton } from './copy-button.tsx'
import { curlOf } from './curl.ts'
import { Dialog } from './dialog.tsx'

const TerraformLines = lazy(() => import('./terraform-lines.tsx'))

/** Shows what was just done as the call that did it. */
export function AsCall({ sent }: { sent: Sent }) {
  const [isOpen, setOpen] = useState(false)
  const text = curlOf(sent, location.origin)
  return (
    <>
      <button class="plain" onClick={() => setOpen(true)}>
        {common.asCall}
      </button>
      {isOpen && (
        <Dialog title={common.asCall} onClose={() => setOpen(false)}>
          <pre tabIndex={0}>{text}</pre>
          <Suspense fallback={null}>
            <TerraformLines sent={sent} />
          </Suspense>
          <div class="actions">
            <CopyButton text={text} />
            <button onClick={() => setOpen(false)}>{common.close}</button>
          </div>
        </Dialog>
      )}
    </>
  )
}
