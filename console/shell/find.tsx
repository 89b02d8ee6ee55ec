import { lazy, Suspense } from 'preact/compat'
import { useLocation } from 'wouter-preact'
import type { Option } from '../form/picker.tsx'
import { Dialog } from '../pieces/dialog.tsx'
import { useEverything } from './use-everything.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

/** Finds an object of any kind, and goes there. The id of an option is the path of its view. */
export function FindDialog({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const go = ({ id }: Option) => {
    onClose()
    navigate(id)
  }
  return (
    <Dialog unseen title={words.findTitle} onClose={onClose}>
      <Suspense fallback={null}>
        <Picker autofocus label={words.findTitle} placeholder={words.find} useOptions={useEverything} onPick={go} />
      </Suspense>
    </Dialog>
  )
}
