const notFound = 5

/** What a read gives. The provider drops what is not found, and stops at any other error. */
export const found = (answer: Promise<any>, field: string): Promise<object | undefined> =>
  answer.then(
    (message) => message[field],
    (error: { code?: number }) => {
      if (error.code !== notFound) throw error
      return undefined
    },
  )
