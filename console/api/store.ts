import { useEffect, useState } from 'preact/hooks'

/** A value that components follow. */
export interface Store<T> {
  get(): T
  set(value: T): void
  use(): T
}

export function createStore<T>(value: T): Store<T> {
  const followers = new Set<(value: T) => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      for (const follow of followers) follow(next)
    },
    use() {
      const [shown, setShown] = useState(() => value)
      useEffect(() => {
        const follow = (next: T) => setShown(() => next)
        // It may have changed between the first drawing and now.
        follow(value)
        followers.add(follow)
        return () => void followers.delete(follow)
      }, [])
      return shown
    },
  }
}
