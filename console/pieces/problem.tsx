import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/errors.ts'
import { common } from '../texts/common.ts'

/** What was refused, why, and by which id the log knows it. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  const { reason = '', requestId = '' } = error instanceof ApiError ? error : {}
  return (
    <div class="problem" role="alert">
      <span class="grow">
        {sayError(error)}
        {requestId !== '' && (
          <small>
            {common.requestId} <code>{requestId}</code>
            {reason !== '' && <code>{reason}</code>}
          </small>
        )}
      </span>
      {retry && <button onClick={retry}>{common.retry}</button>}
    </div>
  )
}

export function sayError(error: Error): string {
  if (error instanceof ApiError && error.reason === 'UNREACHABLE') return common.unreachable
  return error.message || common.failed
}

/** Whether the caller lacks the permission for what was asked. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'permission_denied'
}

/** In place of what the caller may not read: which permission it needs, and who gives it. */
export function Forbidden({ permission }: { permission: string }) {
  return (
    <Quiet>
      {common.mayNot(permission)} {common.whoGives}
    </Quiet>
  )
}

/** A sentence in place of content, with an action where there is one. */
export function Quiet({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="quiet">
      <p>{children}</p>
      {action}
    </div>
  )
}
