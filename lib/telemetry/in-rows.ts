const row = 64

/**
 * Makes values in rows, and gives them one by one. Code that runs for one call of a hundred is cold each time: to make
 * a row takes hardly longer than to make one value.
 */
export function inRows<T>(make: () => T): () => T {
  const made: T[] = []
  return () => {
    if (made.length === 0) for (let n = 0; n < row; n++) made.push(make())
    return made.pop()!
  }
}
