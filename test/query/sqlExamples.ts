// The records of the examples of docs/reference/sql.md: two symbols on six days.

/** A body for a load: key symbol, date date. */
export const EXAMPLE_CSV = `symbol,date,open,high,low,close,volume,note,detail
AAPL,2024-01-02,187.15,188.44,183.89,185.64,82488700,new year,"{""venue"": ""XNAS"", ""trades"": 1009074}"
AAPL,2024-01-03,184.22,185.88,183.43,184.25,58414500,,"{""venue"": ""XNAS"", ""trades"": 656956}"
AAPL,2024-01-04,182.15,183.09,180.88,181.91,71983600,downgraded,"{""venue"": ""XNAS"", ""trades"": 712850}"
AAPL,2024-01-05,181.99,182.76,180.17,181.18,62303300,,"{""venue"": ""XNAS"", ""trades"": 682335}"
AAPL,2024-01-08,182.09,185.60,181.50,185.56,59144500,,"{""venue"": ""XNAS"", ""trades"": 669173}"
AAPL,2024-01-09,183.92,185.15,182.73,185.14,42841800,,"{""venue"": ""XNAS"", ""trades"": 538298}"
MSFT,2024-01-02,373.86,375.90,366.77,370.87,25258600,new year,"{""venue"": ""XNAS"", ""trades"": 412341}"
MSFT,2024-01-03,369.01,373.26,368.51,370.60,23083500,,"{""venue"": ""XNAS"", ""trades"": 381236}"
MSFT,2024-01-04,370.67,373.10,367.17,367.94,20901500,,"{""venue"": ""XNAS"", ""trades"": 354219}"
MSFT,2024-01-05,368.97,372.06,366.50,367.75,20987000,,"{""venue"": ""XNAS"", ""trades"": 344126}"
MSFT,2024-01-08,369.30,375.20,369.01,374.69,23134000,,"{""venue"": ""XNYS"", ""trades"": 371985}"
MSFT,2024-01-09,372.01,375.99,371.19,375.79,20830000,record close,"{""venue"": ""XNAS"", ""trades"": 337721}"
`;
